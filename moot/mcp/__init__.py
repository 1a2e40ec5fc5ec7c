"""moot for agent hosts: the verbs as tools of a Model Context Protocol server over stdio."""

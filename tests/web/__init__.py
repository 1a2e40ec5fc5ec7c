"""The viewer and the report, asked as a browser asks them: real processes, real files, real Chromium."""

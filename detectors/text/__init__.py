"""The six stop signals as the seed's prose defines them, with silent rounds kept (SD-60 … SD-73)."""

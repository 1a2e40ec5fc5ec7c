"""Forecasts in exact fractions, for the stop checks of `structured`."""

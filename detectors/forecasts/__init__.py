"""Forecasts, cruxes and the value of a test: the arithmetic of the protocol `crux` (docs/crux.md).

Everything here is a pure function over whole numbers. A forecast is a tuple of whole points, one per option in option
order with `none` last, 100 in all. A mean over roles keeps its sums and the number of roles, so no decision reads a
rounded number; a value is an exact `Fraction` of points.

`arithmetic.py` has the first five functions, `standing.py` the others.

| function | returns |
|---|---|
| `group_forecast(forecasts)` | the mean of the roles' forecasts |
| `updated_forecast(forecast, observations)` | a role's forecast after verdicts, by Bayes from its own numbers |
| `moved_numbers(numbers, before, after)` | a role's numbers about an open crux, moved along with its forecast |
| `value_of_test(numbers, quality)` | expected value of sample information (EVSI), in points |
| `joint_value(group, tests)` | the same for several independent tests together |
| `ranked(cruxes, parameters)` | cruxes by value at the best quality, ties by claim id |
| `kept(cruxes, parameters)` | the first three of them |
| `wants_numbers(kept, group, terms)` | whether a kept crux, or all jointly, is worth τ at the best quality |
| `worth_testing(kept, group, terms)` | the kept cruxes that are tested: all that can be tested here, or none |
| `cruxes_to_test(table, kept)` | the same for a table, also where the options were made of the answers |
| `doubters(numbers, order)` | roles by how much they doubt a crux |
| `all_expected_otherwise(numbers, holds, roles)` | whether a verdict surprised every role |
| `short_way(...)` | whether first answers end the run before any test |
| `standing_of(table)` | forecasts, group, leader, margin, unsettled cruxes with value, status |
| `without_each(table)` | the same without each role: does leader or status change? |
| `unseen_of(sightings, lists)` | an estimate of ways to be wrong that no role named |
"""

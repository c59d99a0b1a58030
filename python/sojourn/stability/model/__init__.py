"""TCP and AQMs as fluid models: parameters, windows, operating points, controllers."""

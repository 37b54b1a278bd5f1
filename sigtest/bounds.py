"""How far away all is, in standard errors, that moved where nothing varies."""

FAR = 1e300

"""Real database servers that the tests begin themselves."""

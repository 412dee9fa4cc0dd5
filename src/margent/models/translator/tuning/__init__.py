"""Tuning of the dense weights of translations on development data: MERT, PRO, batch MIRA."""

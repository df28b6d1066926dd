"""Submissions: received, shown, waited for, cancelled."""

"""Gemini's API, through google-genai and through the older google.generativeai."""

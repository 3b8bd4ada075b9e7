"""Who the agent is, and what it is equipped with: profile, prompt, model, tools."""

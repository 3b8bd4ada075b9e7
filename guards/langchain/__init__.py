"""The LangChain door: what a callback handler, a middleware and a guarded tool do with a call.

The classes here have no LangChain base, and nothing of LangChain is loaded before it is needed;
`edgeward.langchain` joins them to their bases. They have no rules of their own: every verdict is
that of `decide`. No other part of the guards knows LangChain.
"""

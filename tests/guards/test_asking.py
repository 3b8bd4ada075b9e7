"""A model that nobody listens to is asked directly: the same reply, and LangChain's own cache,
limits and settings count."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import wraps
from typing import Any

import pytest
from langchain_core.caches import InMemoryCache
from langchain_core.callbacks import BaseCallbackHandler, CallbackManager
from langchain_core.globals import get_llm_cache, set_debug, set_llm_cache
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage
from langchain_core.rate_limiters import InMemoryRateLimiter
from langchain_core.runnables import RunnableConfig
from langchain_core.tracers.context import collect_runs

from edgeward.guards.langchain.asking import aask, ask, note_silence
from edgeward.guards.langchain.model import held
from edgeward.guards.redact import Redactor
from edgeward.profiles.scripted import ScriptedModel, call

HELLO: list[BaseMessage] = [HumanMessage("hello")]


class Heard(BaseCallbackHandler):
    """Notes what it hears of models."""

    def __init__(self) -> None:
        self.heard: list[str] = []

    def on_chat_model_start(self, *_: Any, **__: Any) -> None:
        self.heard.append("start")

    def on_llm_end(self, *_: Any, **__: Any) -> None:
        self.heard.append("end")


def quiet() -> RunnableConfig:
    """The configuration of a run to which nobody listens."""
    return {"callbacks": CallbackManager(handlers=[])}


async def both(model: Any, config: Callable[[], RunnableConfig], **options: Any) -> list[AIMessage]:
    """The replies of a model that is asked without an event loop, and with one."""
    said = [ask(model, HELLO, config(), options), await aask(model, HELLO, config(), options)]
    assert all(isinstance(message, AIMessage) for message in said)
    return said  # type: ignore[return-value]


@pytest.mark.parametrize("turn", ["hi", call("add", a=1, b=2)])
async def test_the_reply_is_the_same(turn: Any) -> None:
    """Text, calls, tokens and what is noted beside them are those that `invoke` gives."""
    model = held(ScriptedModel(turns=[turn]), Redactor())
    known = model.invoke(HELLO)
    for said in await both(model, quiet):
        assert said.id is not None
        assert said.id.startswith("lc_run-")
        assert said.model_copy(update={"id": known.id}) == known


async def test_ids_differ() -> None:
    """Every reply has an id of its own."""
    ids = {message.id for _ in range(3) for message in await both(ScriptedModel(), quiet)}
    assert len(ids) == 6


async def test_whoever_listens_to_the_run_hears_it() -> None:
    """A handler of the run hears both calls from beginning to end."""
    handler = Heard()
    await both(ScriptedModel(), lambda: {"callbacks": CallbackManager(handlers=[handler])})
    assert handler.heard == ["start", "end"] * 2


async def test_whoever_listens_to_the_model_hears_it() -> None:
    """So does one of the model alone."""
    handler = Heard()
    await both(ScriptedModel(callbacks=[handler]), quiet)
    assert handler.heard == ["start", "end"] * 2


async def test_whoever_collects_runs_gets_them() -> None:
    """LangChain's collector finds the model's runs."""
    with collect_runs() as found:
        await both(ScriptedModel(), quiet)
    assert [run.run_type for run in found.traced_runs] == ["llm"] * 2


def silent(**settings: Any) -> RunnableConfig:
    """The configuration of a graph step of which it was noted that nobody listens."""
    config: RunnableConfig = {**quiet(), "configurable": {"checkpoint_ns": "act:1"}}
    note_silence(config)
    config["configurable"].update(settings)
    return config


async def test_silence_is_noted_for_one_graph_step() -> None:
    """What was found at its beginning counts in it, and in no graph inside of it."""
    here, inside = silent(), silent(checkpoint_ns="act:1|act:2")
    with collect_runs() as found:
        await both(ScriptedModel(), lambda: here)
        assert not found.traced_runs
        await both(ScriptedModel(), lambda: inside)
    assert [run.run_type for run in found.traced_runs] == ["llm"] * 2


async def test_silence_is_not_noted_where_somebody_listens() -> None:
    """Neither where something is collected, nor because a request says so."""
    with collect_runs() as found:
        await both(ScriptedModel(), silent)
        for said in (True, [object(), "act:1"], (object(), "act:1")):
            told: Any = {**quiet(), "configurable": {"__edgeward_silent": said}}
            ask(ScriptedModel(), HELLO, told, {})
    assert [run.run_type for run in found.traced_runs] == ["llm"] * 5
    handler = Heard()
    await both(ScriptedModel(callbacks=[handler]), silent)
    assert handler.heard == ["start", "end"] * 2


async def test_debugging_shows_it(capsys: pytest.CaptureFixture[str]) -> None:
    """With LangChain's debug mode on, the call is printed."""
    set_debug(True)
    try:
        await both(ScriptedModel(), quiet)
    finally:
        set_debug(False)
    assert capsys.readouterr().out.count("[llm/start]") == 2


@pytest.fixture
def cache() -> Iterator[None]:
    """LangChain's cache of replies, for one test."""
    before = get_llm_cache()
    set_llm_cache(InMemoryCache())
    yield
    set_llm_cache(before)


@pytest.mark.usefixtures("cache")
async def test_a_cache_is_asked_first() -> None:
    """The same question costs one call of the model."""
    model = ScriptedModel(turns=["one", "two"], order="call")
    texts = [message.text for message in await both(model, quiet)]
    assert texts == ["one", "one"]
    assert len(model.requests) == 1


async def test_a_rate_limiter_is_waited_for() -> None:
    """A limiter with one call left a long time lets the first through and holds the second."""
    limiter = InMemoryRateLimiter(requests_per_second=1e-6, max_bucket_size=1)
    limiter.available_tokens = 1.0
    ask(ScriptedModel(rate_limiter=limiter), HELLO, quiet(), {})
    assert limiter.available_tokens < 1
    assert not limiter.acquire(blocking=False)


class Own(ScriptedModel):
    """A model with a way of its own of being asked."""

    def invoke(self, input: Any, config: Any = None, *, stop: Any = None, **_: Any) -> AIMessage:
        return AIMessage("my own", id="o")

    async def ainvoke(self, input: Any, config: Any = None, **_: Any) -> AIMessage:
        return AIMessage("my own", id="o")


async def test_a_model_with_its_own_way_is_asked_so() -> None:
    """A class that overrides `invoke` is not passed by."""
    assert [message.text for message in await both(Own(), quiet)] == ["my own"] * 2
    assert [m.text for m in await both(held(Own(), Redactor()), quiet)] == ["my own"] * 2


async def test_whoever_wraps_langchains_methods_is_called(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A program that is measured by wrapping them has its models' calls measured."""
    called: list[str] = []

    def wrapping(name: str) -> Any:
        method = getattr(BaseChatModel, name)

        @wraps(method)
        def wrapped(self: Any, *args: Any, **kwargs: Any) -> Any:
            called.append(name)
            return method(self, *args, **kwargs)

        return wrapped

    for name in ("generate", "agenerate"):
        monkeypatch.setattr(BaseChatModel, name, wrapping(name))
    await both(held(ScriptedModel(), Redactor()), quiet)
    assert called == ["generate", "agenerate"]


async def test_anything_that_can_be_invoked_is_asked() -> None:
    """A model that is bound to arguments, a chain, any Runnable."""
    for model in (ScriptedModel().bind(tools=[]), ScriptedModel().with_retry()):
        texts = [message.text for message in await both(model, quiet)]
        assert texts == ["You said: hello"] * 2


async def test_older_forms_of_content_are_rewritten() -> None:
    """Content in blocks comes to the model as LangChain hands it on."""
    block = {"type": "image", "source_type": "url", "url": "https://img.example/a.png"}
    image: list[BaseMessage] = [HumanMessage([block])]
    direct, known = ScriptedModel(turns=["seen"]), ScriptedModel(turns=["seen"])
    ask(direct, image, quiet(), {})
    known.invoke(image)
    assert direct.requests[0][0].content == known.requests[0][0].content != image[0].content


async def test_arguments_of_the_caller_count() -> None:
    """What is bound to a model reaches it; what is LangChain's own goes to LangChain."""
    given: list[dict[str, Any]] = []

    class Noting(ScriptedModel):
        def _generate(self, messages: Any, stop: Any = None, *_: Any, **kwargs: Any) -> Any:
            given.append({"stop": stop, **kwargs})
            return super()._generate(messages)

    await both(Noting(), quiet, tools=["t"], max_tokens=5)
    await both(Noting(), quiet, stop=["."])
    assert given[:2] == [{"stop": None, "tools": ["t"], "max_tokens": 5}] * 2
    assert [one["stop"] for one in given[2:]] == [["."]] * 2


async def test_what_a_model_raises_is_raised() -> None:
    """An error comes through as it is."""
    model: BaseChatModel = ScriptedModel(turns=[ConnectionError("gone")])
    with pytest.raises(ConnectionError, match="gone"):
        ask(model, HELLO, quiet(), {})
    with pytest.raises(ConnectionError, match="gone"):
        await aask(model, HELLO, quiet(), {})

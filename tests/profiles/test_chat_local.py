"""`provider: local`: a model file in this process, tried on one whose weights are noise."""

from __future__ import annotations

import asyncio
import itertools
import json
import os
import pickle
import stat
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Literal

import pytest
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage, ToolMessage
from langchain_core.utils.function_calling import convert_to_openai_tool
from pydantic import BaseModel

from edgeward import AgentConfig, AgentProfile, ReActAgent
from edgeward.graphs.build import build_graph
from edgeward.policies.yaml_file import ConfigValidationError
from edgeward.profiles.llm import (
    LLMBlock,
    LLMConfigError,
    LLMProviderError,
    build_model,
    resolve_llm,
)
from edgeward.profiles.local_engine import LocalEngine, digest_of
from edgeward.profiles.local_prompt import choice_of, question, schema_of
from tests.fakes import policy
from tests.wire.server import Fail
from tests.wire.ways import KEY, STREAMS, WAYS, added, ask

from .tiny_gguf import write

pytest.importorskip("xllamacpp", reason="the extra `local` is not installed", exc_type=ImportError)


@pytest.fixture(scope="module")
def weights(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The model of noise."""
    return write(tmp_path_factory.mktemp("models") / "tiny.gguf")


@pytest.fixture
def made(weights: Path):
    """Make models of the file; they are closed in the end."""
    models: list[Any] = []

    def model(file: Path | str = weights, **options: Any) -> Any:
        local = {"threads": 1, "context_tokens": 4096, **options.pop("local", {})}
        fields = {"provider": "local", "model": str(file), "local": local, "max_tokens": 400}
        block = LLMBlock.model_validate({**fields, **options}, strict=False)
        models.append(build_model(resolve_llm(block, {})))
        return models[-1]

    yield model
    for one in models:
        one.close()


def pick(number: int, mode: Literal["fast", "slow"], on: bool = True) -> str:
    """Pick a number."""
    return f"{number} {mode} {on}"


def toss() -> str:
    """Toss a coin."""
    return "heads"


PICK = convert_to_openai_tool(pick)
SIT = {
    "type": "function",
    "function": {
        "name": "sit",
        "description": "Take a place.",
        "parameters": {
            "type": "object",
            "properties": {"place": {"$ref": "#/$defs/Place"}},
            "required": ["place"],
            "additionalProperties": False,
            "$defs": {
                "Place": {
                    "type": "object",
                    "properties": {
                        "row": {"enum": ["a", "b"]},
                        "on": {"type": "boolean"},
                        "next": {"$ref": "#/$defs/Way"},
                    },
                    "required": ["row", "on", "next"],
                    "additionalProperties": False,
                },
                "Way": {"enum": ["left", "right"]},
            },
        },
    },
}
ONLY = {"pick": ["a number"]}
"""Examples by which every question is for one tool."""


# --- the ways to ask


@WAYS
def test_each_way_to_ask_gives_the_same_answer(made, way):
    """Whole and streamed, sync and async, with token counts."""
    expected = made(max_tokens=12).invoke("hello")
    answer = ask(made(max_tokens=12), "hello", way)
    assert answer.text == expected.text
    assert answer.text
    assert answer.usage_metadata["total_tokens"] == expected.usage_metadata["total_tokens"]
    assert answer.usage_metadata["output_tokens"] == 12
    assert answer.response_metadata["finish_reason"] == "length"


@STREAMS
def test_text_is_streamed_in_pieces(made, way):
    """As it is written, not in one piece at the end."""
    model = made(max_tokens=12)
    if way == "stream":
        chunks = list(model.stream("hello"))
    else:

        async def collected():
            return [chunk async for chunk in model.astream("hello")]

        chunks = asyncio.run(collected())
    assert len([chunk for chunk in chunks if chunk.text]) > 3
    assert added(chunks).text == made(max_tokens=12).invoke("hello").text


def test_nothing_is_loaded_before_the_first_question(made):
    """Building an agent costs no memory."""
    model = made()
    assert not model.engine.is_loaded
    model.invoke("hello")
    assert model.engine.is_loaded


# --- calls are held to the schema


@WAYS
def test_noise_held_to_a_schema_is_a_valid_call(made, way):
    """Whatever the model would have written, the arguments fit."""
    model = made(local={"examples": ONLY}).bind_tools([PICK])
    answer = ask(model, "anything", way)
    (call,) = answer.tool_calls
    assert call["name"] == "pick"
    assert isinstance(call["args"]["number"], int)
    assert call["args"]["mode"] in ("fast", "slow")
    assert answer.text == ""
    assert answer.response_metadata["finish_reason"] == "stop"


def test_definitions_of_a_schema_hold_too(made):
    """References into `$defs` are followed, and two tools' definitions do not mix."""
    model = made(local={"examples": {"sit": ["a place"]}}).bind_tools([PICK, SIT])
    (call,) = model.invoke("anything").tool_calls
    assert set(call["args"]["place"]) == {"row", "on", "next"}
    assert call["args"]["place"]["next"] in ("left", "right")


def test_each_tool_s_definitions_have_their_own_names():
    """Under one root, since a reference starts at the root."""
    other = json.loads(json.dumps(SIT))
    other["function"]["name"] = "stand"
    schema = schema_of([SIT, other])
    assert set(schema["$defs"]) == {"t0_Place", "t0_Way", "t1_Place", "t1_Way"}
    assert "#/$defs/t1_Way" in json.dumps(schema["$defs"]["t1_Place"])
    assert [one["properties"]["action"]["const"] for one in schema["anyOf"]] == [
        "sit",
        "stand",
        "answer",
    ]


def test_a_call_that_was_cut_off_is_an_invalid_one(made):
    """It is never completed by guesswork, and keeps its name and its text."""
    model = made(max_tokens=30, local={"examples": ONLY}).bind_tools([PICK])
    answer = model.invoke("anything")
    assert answer.tool_calls == []
    assert answer.invalid_tool_calls[0]["name"] in ("pick", "unknown")
    assert answer.invalid_tool_calls[0]["args"]


@pytest.mark.parametrize(
    ("text", "name", "arguments"),
    [
        ('{"action": "pick", "arguments": {"number": 1}}', "pick", '{"number": 1}'),
        ('{"action": "pick"}', "pick", "{}"),
        ('{"action": "pick", "arguments": [1]}', "pick", "[1]"),
        ('{"action": "pick", "argum', "pick", '{"action": "pick", "argum'),
        ('{"action": 3}', "unknown", '{"action": 3}'),
        ("", "unknown", "?"),
        ('{"action": "a", "action": "b"}', "a", '{"action": "a", "action": "b"}'),
    ],
)
def test_what_was_written_is_read_again(text, name, arguments):
    """A schema that was not understood lets anything through: nothing is taken on trust."""
    call = choice_of(text)
    assert call is not None
    assert (call.name, call.arguments) == (name, arguments)


def test_the_answer_is_no_call():
    """It is written in a second go, in words."""
    assert choice_of('{"action": "answer"}') is None


class Ticket(BaseModel):
    """A ticket."""

    kind: Literal["bug", "wish"]
    urgent: bool


def test_structured_output_is_held_to_its_schema(made):
    """LangChain's way to ask for an object: the model has no other choice."""
    ticket = made().with_structured_output(Ticket).invoke("It does not start.")
    assert isinstance(ticket, Ticket)
    assert ticket.kind in ("bug", "wish")


def test_a_tool_cannot_be_called_as_the_answer_is(made):
    """Its calls would be taken for no call."""
    tool = {"type": "function", "function": {"name": "answer", "description": "x"}}
    with pytest.raises(ValueError, match="'answer'"):
        made().bind_tools([tool])


def test_a_prompt_that_was_read_before_is_counted_as_cached(made):
    """The same beginning is not read twice."""
    model = made(max_tokens=4)
    first, second = model.invoke("hello"), model.invoke("hello")
    assert first.usage_metadata["input_token_details"]["cache_read"] == 0
    assert second.usage_metadata["input_token_details"]["cache_read"] > 0


def test_a_named_tool_has_to_be_used(made):
    """And no other."""
    model = made().bind_tools([PICK, SIT], tool_choice="pick")
    assert [call["name"] for call in model.invoke("anything").tool_calls] == ["pick"]


# --- one tool a question, then an answer


def turn(*statuses: str) -> list[Any]:
    """A question, and rounds of a tool that ended so."""
    talk: list[Any] = [SystemMessage("Be brief."), HumanMessage("Which number?")]
    for number, status in enumerate(statuses):
        call = {"name": "pick", "args": {"number": number}, "id": f"c{number}"}
        talk.append(AIMessage("", tool_calls=[call]))
        talk.append(ToolMessage("so", tool_call_id=f"c{number}", name="pick", status=status))
    return talk


@pytest.mark.parametrize(
    ("statuses", "rounds", "may"),
    [
        ((), 1, True),
        ((), 0, False),
        (("success",), 1, False),
        (("success",), 2, True),
        (("error",), 1, True),
        (("error", "error", "error"), 1, False),
        (("error", "success"), 1, False),
    ],
)
def test_after_its_rounds_of_tools_the_model_has_to_answer(statuses, rounds, may):
    """A failed round may be tried again, but not for ever."""
    assert bool(question(turn(*statuses), [PICK], rounds=rounds).choose) is may


def test_a_new_question_has_rounds_of_its_own():
    """What an earlier turn used does not count."""
    talk = [*turn("success"), AIMessage("One."), HumanMessage("And now?")]
    assert question(talk, [PICK], rounds=1).choose


def test_no_two_messages_of_one_role_follow_each_other():
    """Many models' templates take turns only; results are the user's side."""
    asked = question(turn("success", "error"), [PICK], rounds=3)
    for wire in (asked.choose, asked.answer):
        roles = [message["role"] for message in wire]
        assert roles[0] == "system"
        assert all(one != other for one, other in itertools.pairwise(roles))
        assert roles[-1] == "user"
    assert "pick(number: integer, mode: fast|slow, on?: boolean)" in asked.choose[0]["content"]


def test_an_image_is_refused(made):
    """These models read text; an image is not passed over in silence."""
    image = {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw0KGgoAAAAN"}}
    message = HumanMessage([{"type": "text", "text": "what is it?"}, image])
    with pytest.raises(LLMProviderError, match="reads text only"):
        made().invoke([message])


async def test_a_whole_run_uses_one_tool_and_answers(made):
    """Through the agent: the guard decides the call, the tool runs, words end it."""
    model = made(local={"examples": ONLY}, max_tokens=120)
    bare = AgentProfile.from_mapping({"id": "bot", "name": "Helper"})
    config = AgentConfig(profile=bare, llm=model, tools=[pick, toss], policy="allow_all")
    async with ReActAgent(config) as agent:
        result = await agent.run("Which number?")
    assert [step.kind for step in result.steps][:2] == ["tool_call", "tool_result"]
    assert result.steps[-1].kind == "answer"
    assert [call.name for step in result.steps for call in step.tool_calls] == ["pick"]


async def test_a_refused_call_does_not_run(made):
    """The policy stands behind this model as behind any other."""
    ran: list[int] = []

    def note(number: int) -> str:
        """Note a number."""
        ran.append(number)
        return "noted"

    model = made(local={"examples": {"note": ["a number"]}}, max_tokens=120)
    bare = AgentProfile.from_mapping({"id": "bot", "name": "Helper"})
    words = policy({"note": "block"})
    config = AgentConfig(profile=bare, llm=model, tools=[note], policy=words)
    async with ReActAgent(config) as agent:
        result = await agent.run("Which number?")
    assert ran == []
    assert any(step.tool_results for step in result.steps)


# --- the router


def test_the_nearest_example_picks_the_tool(made):
    """By meaning, not by words; `answer` is a name too."""
    examples = {
        "pick": ["choose a number", "give me some number"],
        "toss": ["throw a coin", "heads or tails?"],
        "answer": ["hello", "who are you?"],
    }
    model = made(local={"examples": examples}, max_tokens=200)
    bound = model.bind_tools([PICK, convert_to_openai_tool(toss)])
    assert bound.invoke("Flip the penny, please.").tool_calls[0]["name"] == "toss"
    assert bound.invoke("Select a figure at random.").tool_calls[0]["name"] == "pick"
    assert bound.invoke("Good morning!", max_tokens=8).tool_calls == []
    assert bound.invoke("Good morning!", max_tokens=8).text


def test_without_the_tool_there_is_no_way_to_it(made):
    """An example of a tool that the agent has not does not matter."""
    model = made(local={"examples": {"gone": ["a number"]}}, max_tokens=8)
    assert model.bind_tools([PICK]).invoke("a number").tool_calls == []


# --- one at a time, never on the loop


async def test_the_event_loop_is_free_while_others_are_answered(made):
    """A call waits in line for the engine, and the loop goes on meanwhile."""
    model, gate = made(max_tokens=4), threading.Event()
    model.engine.submit(gate.wait)
    waiting = asyncio.create_task(model.ainvoke("hello"))
    for _ in range(20):
        await asyncio.sleep(0)
    assert not waiting.done()
    gate.set()
    assert (await waiting).text


async def test_calls_at_once_are_answered_one_after_the_other(made):
    """From many tasks and threads, each gets its own answer."""
    model = made(max_tokens=6)
    alone = {text: model.invoke(text).text for text in "abcd"}
    running: list[int] = []
    most: list[int] = []
    chat = LocalEngine.chat

    def noted(self, request, heard):
        running.append(1)
        most.append(len(running))
        try:
            chat(self, request, heard)
        finally:
            running.pop()

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(LocalEngine, "chat", noted)
        tasks = [model.ainvoke(text) for text in "abcd"]
        threads = [asyncio.to_thread(model.invoke, text) for text in "abcd"]
        answers = await asyncio.gather(*tasks, *threads)
    assert [answer.text for answer in answers] == [alone[text] for text in "abcdabcd"]
    assert max(most) == 1


async def test_a_call_that_is_cancelled_while_it_waits_never_begins(made):
    """It leaves the line."""
    model, gate = made(max_tokens=4), threading.Event()
    model.engine.submit(gate.wait)
    waiting = asyncio.create_task(model.ainvoke("hello"))
    await asyncio.sleep(0)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    gate.set()
    await asyncio.wrap_future(model.engine.submit(lambda: None))
    assert not model.engine.is_loaded


@STREAMS
def test_a_stream_that_is_left_stops_writing(made, way):
    """What nobody reads is not written on, and the next question is answered."""
    model = made(max_tokens=3000)
    if way == "stream":
        stream = model.stream("hello")
        next(stream)
        stream.close()
    else:

        async def left() -> None:
            pieces = model.astream("hello")
            await anext(pieces)
            await pieces.aclose()

        asyncio.run(left())
    assert model.invoke("hello", max_tokens=4).usage_metadata["output_tokens"] == 4


async def test_a_call_that_is_cancelled_while_it_is_answered_stops(made):
    """The engine is free again long before it would have been done."""
    model = made(max_tokens=3000)
    begun = threading.Event()
    chat = LocalEngine.chat

    def noted(self, request, heard):
        def listening(piece):
            begun.set()
            return heard(piece)

        chat(self, request, listening)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(LocalEngine, "chat", noted)
        task = asyncio.create_task(model.ainvoke("hello"))
        await asyncio.to_thread(begun.wait)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
    assert (await model.ainvoke("hello", max_tokens=4)).text


def test_an_answer_that_takes_too_long_is_an_error(made):
    """With the status of a timeout, so that a fallback is asked."""
    with pytest.raises(LLMProviderError, match="no answer within") as caught:
        made(max_tokens=3000, timeout_s=1e-6).invoke("hello")
    assert caught.value.status == 408


def test_a_question_beyond_the_context_says_what_to_set(made):
    """Refused with its reason, not cut in silence."""
    with pytest.raises(LLMProviderError, match=r"llm\.local\.context_tokens") as caught:
        made(local={"context_tokens": 512}).invoke("word " * 2000)
    assert caught.value.status == 400


# --- closing


def test_closing_frees_the_model(made):
    """Memory and socket are given back; closing twice is fine; a question afterwards is told."""
    model = made(max_tokens=4)
    model.invoke("hello")
    folder = Path(model.engine._folder)
    assert folder.is_dir()
    model.close()
    model.close()
    assert not model.engine.is_loaded
    assert not folder.exists()
    for way in ("invoke", "astream"):
        with pytest.raises(LLMProviderError, match="closed"):
            ask(model, "hello", way)


def test_closing_ends_what_is_being_answered(made):
    """Whoever waits gets an error, and nobody waits for the end."""
    model = made(max_tokens=3000)
    stream = model.stream("hello")
    next(stream)
    model.close()
    with pytest.raises(LLMProviderError, match="closed"):
        list(stream)


@pytest.mark.parametrize("door", ["agent", "graph"])
def test_whoever_built_the_model_closes_it(weights, door):
    """Of an agent or a graph that made it from its profile; one that was given stays open."""
    agent = {
        "id": "bot",
        "name": "Helper",
        "llm": {"provider": "local", "model": str(weights), "max_tokens": 4},
    }
    bare = AgentProfile.from_mapping(agent)
    made_here = build_model(resolve_llm(bare.llm, {}))
    closed: list[str] = []
    close = LocalEngine.close
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(LocalEngine, "close", lambda self: (closed.append("x"), close(self))[1])
        if door == "agent":
            with ReActAgent(AgentConfig(profile=bare)) as one:
                assert one.run_sync("hello").final_answer
        else:
            graph = build_graph("simple", profile=bare)
            graph.invoke({"messages": [HumanMessage("hello")]})
            graph.close()
        assert closed == ["x"]
        with ReActAgent(AgentConfig(profile=bare, llm=made_here)) as one:
            one.run_sync("hello")
        assert closed == ["x"]
    assert made_here.invoke("hello").text
    made_here.close()


def test_no_port_is_opened(made):
    """The server inside listens on a socket file that only this user can reach."""
    model = made(max_tokens=4)
    model.invoke("hello")
    assert model.engine._server.listening_address.startswith("unix://")
    assert stat.S_IMODE(os.stat(model.engine._folder).st_mode) == 0o700


def test_nothing_is_written_to_the_terminal(made, capfd):
    """The engine keeps its log to itself."""
    made(max_tokens=4).invoke("hello")
    shown = capfd.readouterr()
    assert shown.out + shown.err == ""


def test_a_model_goes_through_pickle(made):
    """As what it was made from: the file, not the memory."""
    model = made(max_tokens=4)
    said = model.invoke("hello").text
    again = pickle.loads(pickle.dumps(model))
    assert not again.engine.is_loaded
    assert again.invoke("hello").text == said
    again.close()


# --- the file


def test_a_file_that_is_not_there_is_told_at_build(made, tmp_path):
    """With its path and what to do, before any question."""
    with pytest.raises(LLMConfigError, match=r"there is no file .*none\.gguf"):
        made(tmp_path / "none.gguf")


def test_a_file_that_is_no_model_is_told_at_build(made, tmp_path):
    """Whatever its name says."""
    (tmp_path / "notes.gguf").write_text("hello")
    with pytest.raises(LLMConfigError, match="is no GGUF file"):
        made(tmp_path / "notes.gguf")


def test_a_damaged_model_is_told_at_the_first_question(made, weights, tmp_path):
    """The package says no more than that it failed."""
    broken = tmp_path / "broken.gguf"
    broken.write_bytes(weights.read_bytes()[:9000])
    with pytest.raises(LLMProviderError, match=r"broken\.gguf cannot be loaded"):
        made(broken).invoke("hello")


def test_the_hash_in_the_profile_is_checked(made, weights):
    """Another file under the same name is not run."""
    good = digest_of(weights)
    assert made(max_tokens=4, local={"sha256": good}).invoke("hello").text
    with pytest.raises(LLMProviderError, match="sha256"):
        made(local={"sha256": "0" * 64}).invoke("hello")


def test_a_relative_path_is_the_profile_s(weights, tmp_path, monkeypatch):
    """Relative to its folder, not to the current one."""
    (tmp_path / "tiny.gguf").write_bytes(weights.read_bytes())
    (tmp_path / "profile.yaml").write_text(
        "agent:\n  id: bot\n  name: Helper\n"
        "  llm: {provider: local, model: tiny.gguf, max_tokens: 4}"
    )
    monkeypatch.chdir("/")
    with ReActAgent(AgentConfig(profile=tmp_path)) as agent:
        assert agent.run_sync("hello").final_answer


@pytest.mark.parametrize("where", ["hub", "home", "ours"])
def test_an_hf_model_is_found_in_a_cache(made, weights, tmp_path, monkeypatch, where):
    """In the hub tool's, by branch; or in ours. No network."""
    monkeypatch.setenv("HF_HOME", str(tmp_path / "hf"))
    monkeypatch.delenv("HF_HUB_CACHE", raising=False)
    if where == "ours":
        file = Path(os.environ["EDGEWARD_HOME"]) / "models/acme/tiny/main/q4/tiny.gguf"
    else:
        hub = tmp_path / "hf/hub"
        if where == "home":
            hub = tmp_path / "elsewhere"
            monkeypatch.setenv("HF_HUB_CACHE", str(hub))
        (hub / "models--acme--tiny/refs").mkdir(parents=True)
        (hub / "models--acme--tiny/refs/main").write_text("abc123")
        file = hub / "models--acme--tiny/snapshots/abc123/q4/tiny.gguf"
    file.parent.mkdir(parents=True)
    file.write_bytes(weights.read_bytes())
    assert made("hf:acme/tiny/q4/tiny.gguf", max_tokens=4).invoke("hello").text


def test_an_hf_model_that_is_not_there_is_not_fetched_unasked(made, monkeypatch, tmp_path):
    """The message is the command that helps, and the key that allows it."""
    monkeypatch.setenv("HF_HOME", str(tmp_path))
    with pytest.raises(LLMConfigError) as caught:
        made("hf:acme/tiny/tiny.gguf")
    assert "hf download acme/tiny tiny.gguf" in str(caught.value)
    assert "llm.local.download: true" in str(caught.value)


@pytest.mark.parametrize(
    "name",
    ["hf:", "hf:acme", "hf:acme/tiny", "hf:acme/tiny/x.bin", "hf:../x/y.gguf", "hf:a/b/../c.gguf"],
)
def test_a_reference_without_its_form_is_refused(made, name):
    """OWNER/NAME/FILE.gguf, and no way out of the cache."""
    with pytest.raises(LLMConfigError, match="hf:OWNER/NAME/FILE"):
        made(name)


@pytest.fixture
def hub(weights: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    """A hub on this machine; it has one model."""
    asked: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def log_message(self, *_: Any) -> None:
            """Keep quiet."""

        def do_GET(self) -> None:
            asked.append(self.path)
            found = self.path == "/acme/tiny/resolve/v1/tiny.gguf"
            body = weights.read_bytes() if found else b"no"
            self.send_response(200 if found else 404)
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    monkeypatch.setenv("HF_ENDPOINT", f"http://127.0.0.1:{server.server_port}")
    monkeypatch.setenv("HF_HOME", str(tmp_path))
    yield asked
    server.shutdown()
    server.server_close()
    thread.join()


def test_a_model_is_fetched_where_the_profile_says_so(made, hub):
    """Once; then it is on this machine."""
    for _ in range(2):
        model = made("hf:acme/tiny@v1/tiny.gguf", max_tokens=4, local={"download": True})
        assert model.invoke("hello").text
    assert hub == ["/acme/tiny/resolve/v1/tiny.gguf"]


@pytest.mark.parametrize(
    ("name", "sha256", "told"),
    [
        ("hf:acme/none/tiny.gguf", None, "the hub answered 404"),
        ("hf:acme/tiny@v1/tiny.gguf", "0" * 64, "another sha256"),
    ],
)
def test_what_cannot_be_fetched_leaves_nothing_behind(made, hub, name, sha256, told):
    """Neither half a file nor a wrong one."""
    with pytest.raises(LLMConfigError, match=told):
        made(name, local={"download": True, "sha256": sha256})
    kept = Path(os.environ["EDGEWARD_HOME"])
    assert [path for path in kept.rglob("*") if path.is_file()] == []


def test_offline_a_fetch_is_told_as_what_it_is(made, monkeypatch, tmp_path):
    """The hub cannot be reached, and what can be done without it."""
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")
    monkeypatch.setenv("HF_HOME", str(tmp_path))
    with pytest.raises(LLMConfigError, match="cannot be reached"):
        made("hf:acme/tiny/tiny.gguf", local={"download": True})


# --- the package and the profile


class _Libgomp:
    """A machine without libgomp: the package is there and does not load."""

    def find_spec(self, name, path=None, target=None):
        if name == "xllamacpp":
            raise ImportError("libgomp.so.1: cannot open shared object file: No such file")


def test_without_libgomp_the_message_is_the_command_that_helps(made, monkeypatch):
    """Slim containers lack it, and the package does not bring it along."""
    import importlib.util

    spec = importlib.util.find_spec("xllamacpp")
    monkeypatch.delitem(sys.modules, "xllamacpp", raising=False)
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: spec)
    monkeypatch.setattr(sys, "meta_path", [_Libgomp(), *sys.meta_path])
    with pytest.raises(LLMConfigError, match="apt-get install -y libgomp1"):
        made()


def test_local_settings_go_with_a_local_model_only():
    """A key that would do nothing is a mistake."""
    llm = {"provider": "openai", "local": {"threads": 2}}
    with pytest.raises(ConfigValidationError, match=r"agent\.llm.*local"):
        AgentProfile.from_mapping({"id": "bot", "name": "Helper", "llm": llm})


@pytest.mark.parametrize(
    "local",
    [
        {"threads": 0},
        {"context_tokens": 10},
        {"sha256": "abc"},
        {"download": 1},
        {"tool_rounds": -1},
        {"examples": {"a": "b"}},
        {"gpu": 1},
    ],
)
def test_local_settings_are_strict(local):
    """Ranges, types and names."""
    llm = {"provider": "local", "model": "m.gguf", "local": local}
    with pytest.raises(ConfigValidationError, match=r"agent\.llm\.local"):
        AgentProfile.from_mapping({"id": "bot", "name": "Helper", "llm": llm})


@WAYS
def test_a_local_model_stands_in_for_a_service(wire, weights, way):
    """As the fallback of one that is down: it needs no key and no network."""
    wire.script(Fail(503))
    block = LLMBlock.model_validate(
        {
            "provider": "openai",
            "model": "m",
            "api_key": KEY,
            "base_url": wire.openai_url,
            "max_retries": 0,
            "fallback": {"provider": "local", "model": str(weights), "max_tokens": 4},
        }
    )
    model = build_model(resolve_llm(block, {}))
    answer = ask(model, "hello", way)
    assert answer.text
    assert answer.response_metadata["fallback"]["model"] == "tiny"
    model.close()

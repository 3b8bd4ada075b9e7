"""Google's SDK, guarded where it meets the wire.

Everything that `models` and `chats` of google-genai do goes through four methods of the client's
API object, which take a path and a JSON body and give JSON back. Here they mask the one and guard
the other. So the SDK's own loops (automatic function calling, automatic continuation, chats) see
what the guard let through, and nothing else: a function runs only where its call stayed.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Iterator
from copy import copy
from typing import Any

from ...decide import Policy
from ...receipts.keeping import beside
from .._cut_off import estimated_tokens
from .._exchange import Door, Exchange, attach, joint
from .._request import materialised
from .._wire import Unreadable
from ..defender import Decision
from .parts import CONTENT, camel, turns_of
from .reply import GeminiReply

_GENERATES = (":generateContent", ":streamGenerateContent")


class Call:
    """One call of a guarded method: the requests that it comes to, and what became of them.

    `resumes`: whether the SDK goes on by itself where a reply says that it is not at its end.
    """

    def __init__(self, door: Door, *, resumes: bool = True) -> None:
        self._door = door
        self._resumes = resumes
        self._exchanges: list[Exchange] = []
        self._reply: GeminiReply | None = None
        self._ended = False

    def opened(self, body: Any) -> tuple[dict[str, Any], GeminiReply]:
        """A request's body as it is sent, and the reply to it.

        Raises:
            Unreadable: it is no JSON object.
        """
        if not isinstance(body, dict):
            raise Unreadable("the request's body is no JSON object, and cannot be guarded")
        body = camel(materialised(body))
        contents = body.get("contents")
        contents = contents if isinstance(contents, list | tuple) else [contents]
        if self._reply is None or not body.get("continuationToken"):
            self.end(finished=False)
            self._ended = False
            after = body.get("cachedContent")
            exchange = self._door.exchange(
                turns_of(contents), after=after if isinstance(after, str) else ""
            )
            self._exchanges.append(exchange)
            self._reply = GeminiReply(exchange, len(contents), resumes=self._resumes)
        else:
            self._reply.resumed()
        self._read = [body.get(name) for name in CONTENT]
        return self._exchanges[-1].rules.sent(body, CONTENT), self._reply

    def end(self, *, finished: bool) -> dict[str, Any] | None:
        """No piece follows: what is left of the last reply."""
        reply = self._reply
        self._ended = True
        if reply is None or reply.ended:
            return None
        rest = reply.end(finished=finished)
        tokens = reply.tokens or estimated_tokens(reply.written, self._read)
        self._exchanges[-1].add_tokens(tokens)
        return rest

    @property
    def firewall(self) -> Decision | None:
        """The decision on all that came back; None until everything was seen."""
        return joint(self._exchanges) if self._ended and self._exchanges else None

    def told(self, response: Any) -> Any:
        """The response that the SDK made, with the decision on it."""
        self.end(finished=False)
        if self.firewall is not None:
            attach(response, self.firewall)
        return response


class GuardedApi:
    """The API object of a client, its traffic guarded; all else is the client's own."""

    def __init__(self, inner: Any, door: Door, call: Call | None = None) -> None:
        self._edgeward = (inner, door, call)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._edgeward[0], name)

    def request(self, http_method: str, path: str, body: Any, http_options: Any = None) -> Any:
        """A request, answered whole."""
        one = self._opening(path)
        response = _unbound(self, "request")(one, http_method, path, body, http_options)
        return one.whole(response)

    async def async_request(
        self, http_method: str, path: str, body: Any, http_options: Any = None
    ) -> Any:
        """A request, answered whole, asynchronously."""
        one = self._opening(path)
        response = await _unbound(self, "async_request")(one, http_method, path, body, http_options)
        return await beside(one.policy, one.whole, response)

    def request_streamed(
        self, http_method: str, path: str, body: Any, http_options: Any = None
    ) -> Iterator[Any]:
        """A request, answered in pieces."""
        one = self._opening(path)
        pieces = _unbound(self, "request_streamed")(one, http_method, path, body, http_options)
        last = None
        try:
            for last in pieces:
                yield from one.piece(last)
        finally:
            pieces.close()
        yield from one.rest(last)

    async def async_request_streamed(
        self, http_method: str, path: str, body: Any, http_options: Any = None
    ) -> AsyncIterator[Any]:
        """A request, answered in pieces, asynchronously."""
        one = self._opening(path)
        pieces = await _unbound(self, "async_request_streamed")(
            one, http_method, path, body, http_options
        )
        return _passed(pieces, one)

    def _opening(self, path: str) -> _Opening:
        inner, door, call = self._edgeward
        generates = path.partition("?")[0].endswith(_GENERATES)
        return _Opening(inner, (call or Call(door)) if generates else None, shared=call is not None)


def _unbound(api: GuardedApi, name: str) -> Any:
    return getattr(type(api._edgeward[0]), name)


async def _passed(pieces: Any, one: _Opening) -> AsyncIterator[Any]:
    last = None
    try:
        async for last in pieces:
            made: list[Any] = await beside(one.policy, list, one.piece(last))
            for piece in made:
                yield piece
    finally:
        await pieces.aclose()
    rest: list[Any] = await beside(one.policy, list, one.rest(last))
    for piece in rest:
        yield piece


class _Opening:
    """The API object as one request sees it: what it builds is masked on its way out."""

    def __init__(self, inner: Any, call: Call | None, *, shared: bool) -> None:
        self._inner, self._call, self._shared = inner, call, shared
        self._reply: GeminiReply | None = None

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    @property
    def policy(self) -> Policy | None:
        """The policy that judges the reply; None where nothing in it is judged."""
        return None if self._reply is None else self._reply.exchange.policy

    def _build_request(self, *args: Any, **kwargs: Any) -> Any:
        request = self._inner._build_request(*args, **kwargs)
        if self._call is not None:
            request.data, self._reply = self._call.opened(request.data)
        return request

    def _guarded(self) -> GeminiReply | None:
        """The reply in flight; None where the request asks for nothing to be guarded.

        Raises:
            Unreadable: it was sent in a way that the guard did not see.
        """
        if self._call is not None and self._reply is None:
            raise Unreadable("the request went out unseen; its reply was withheld")
        return self._reply

    def whole(self, response: Any) -> Any:
        """A whole reply, guarded.

        Raises:
            Unreadable: it is no JSON object, or its request was not seen.
        """
        reply = self._guarded()
        if self._call is None or reply is None:
            return response
        data = json.loads(response.body) if response.body else {}
        if not isinstance(data, dict):
            raise Unreadable(
                "the reply is no JSON object; it was withheld, for it cannot be guarded"
            )
        response.body = json.dumps(reply.event(data, whole=True))
        if not self._shared:
            self._call.end(finished=False)
        return response

    def piece(self, response: Any) -> Iterator[Any]:
        """The piece that goes out in place of one."""
        reply = self._guarded()
        if reply is None:
            yield response
            return
        data = json.loads(response.body) if response.body else {}
        if not isinstance(data, dict):
            raise Unreadable(
                "a piece of the stream is no JSON object; it was withheld, for it cannot be guarded"
            )
        made = reply.event(data)
        if made is not None:
            response.body = json.dumps(made)
            yield response

    def rest(self, last: Any) -> Iterator[Any]:
        """What is still to go out when the provider has sent everything."""
        if self._call is None or self._reply is None or self._reply.goes_on:
            return
        made = self._call.end(finished=True)
        if made is not None and last is not None:
            response = copy(last)
            response.body = json.dumps(made)
            yield response


def within(models: Any, door: Door, call: Call | None = None) -> Any:
    """The client's `models`, on the same connections, guarded; its own stay as they are."""
    shell = copy(models)
    api = models._api_client
    if isinstance(api, GuardedApi):
        api = api._edgeward[0]
    shell._api_client = GuardedApi(api, door, call)
    return shell


def resumes(config: Any) -> bool:
    """Whether the SDK goes on by itself with a reply that is not at its end."""
    name = "automatic_continuation"
    if isinstance(config, dict):
        wanted = config.get(name, config.get("automaticContinuation"))
    else:
        wanted = getattr(config, name, None)
    return wanted is None or bool(wanted)

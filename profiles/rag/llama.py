"""What is LlamaIndex's: the vector store over FAISS, and a retriever for its query engines.

The only module that imports it, and only once something is searched: that takes seconds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from llama_index.core.retrievers import BaseRetriever
    from llama_index.vector_stores.faiss import FaissVectorStore

Found = dict[str, Any]
"""One hit as `search` gives it: text, score, node_id, metadata."""


def vector_store(matrix: Any) -> FaissVectorStore:
    """FAISS over the rows of a matrix, each of length 1: exact, by cosine."""
    import faiss
    from llama_index.vector_stores.faiss import FaissVectorStore

    index = faiss.IndexFlatIP(matrix.shape[1])
    index.add(matrix)
    return FaissVectorStore(faiss_index=index)


def vectors_near(store: FaissVectorStore, asked: Any, wanted: int) -> Iterator[tuple[int, float]]:
    """The rows next to a vector, each with its cosine, the nearest first."""
    from llama_index.core.vector_stores import VectorStoreQuery

    found = store.query(VectorStoreQuery(query_embedding=asked, similarity_top_k=wanted))
    for row, likeness in zip(found.ids or (), found.similarities or (), strict=True):
        yield int(row), float(likeness)


def retriever(search: Callable[[str], Sequence[Found]]) -> BaseRetriever:
    """A search as a retriever of LlamaIndex's."""
    from llama_index.core import QueryBundle
    from llama_index.core.retrievers import BaseRetriever
    from llama_index.core.schema import NodeWithScore, TextNode

    class DocumentRetriever(BaseRetriever):
        def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
            return [
                NodeWithScore(
                    node=TextNode(
                        text=hit["text"], id_=hit["node_id"], metadata=dict(hit["metadata"])
                    ),
                    score=hit["score"],
                )
                for hit in search(query_bundle.query_str)
            ]

    return DocumentRetriever()

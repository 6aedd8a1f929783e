"""Keeping a conversation inside its model's window: what is older is summarised, the summary extended."""

from collections.abc import Sequence
from dataclasses import dataclass

from stello_graph.errors import ContextTooLong, StelloError
from stello_graph.model.context import ContextMessage, ContextOrigin, Conversation, ToolSpec
from stello_graph.model.values import Usage
from stello_graph.model.writes import CompressionDraft
from stello_graph.ports import LLM
from stello_graph.session.context.compile import Compiled, compile_transcript
from stello_graph.session.context.cuts import costs_from, newest_within, place_to_cut, through_of
from stello_graph.session.context.groups import whole_cuts
from stello_graph.session.context.patches import ContextSummary, Patch, patch
from stello_graph.session.context.text import is_blank
from stello_graph.session.context.tokens import estimate, tokens_of
from stello_graph.session.context.transcript import Transcript, transcript_of
from stello_graph.session.summaries import Compress, Summariser, summary_limit

__all__ = ["Fitted", "compact", "fit"]

_NOTHING = Usage()


@dataclass(frozen=True, slots=True)
class Fitted:
    """A request that fits the window, and what it took to make it fit.

    Attributes:
        compiled: what to send.
        patches: those of the turn so far, with the new summary at the end: what to go on with.
        compression: the new summary, to be stored before the model is asked; None where there is none.
        usage: what summarising took, also where it failed. It is counted where the summary is stored;
            without one the caller counts it.
        failure: why there is no summary although one was due; older messages may be left out then.
    """

    compiled: Compiled
    patches: tuple[Patch, ...]
    compression: CompressionDraft | None = None
    usage: Usage = _NOTHING
    failure: StelloError | None = None

    @property
    def room(self) -> int:
        """The tokens that the window has left for the reply, one at least.

        Providers refuse a request whose input and longest reply are beyond the window together.
        """
        return max(self.compiled.max_context_tokens - self.compiled.estimated_tokens, 1)


async def fit(
    llm: LLM,
    conversation: Conversation,
    content: str,
    *,
    insight: str | None,
    window: int,
    patches: Sequence[Patch] = (),
    tools: Sequence[ToolSpec] = (),
    compress: Compress | None = None,
) -> Fitted:
    """Compiles what a model sees next, and compresses first where that takes 80 % of the window.

    To be called before each call of a turn, with what `fit` gave as patches before and what came since.
    Every stored message is either in the summary or in the request, never both, never neither. Where
    summarising fails, as much of the newest transcript as fits is sent, and nothing is to be stored.

    Args:
        conversation: as stored before the turn began, without the user's message.
        patches: what happened in the turn so far; those with a seq are stored.
        window: the model's, in tokens.
        compress: the application's own way to summarise.

    Raises:
        ContextTooLong: what cannot be left out is longer than the window.
    """

    def render(transcript: Transcript) -> Compiled:
        return compile_transcript(
            conversation,
            transcript,
            insight=insight,
            max_context_tokens=window,
            tools=tools,
        )

    transcript = _visible(conversation, content, patches)
    whole = render(transcript)
    if not whole.would_compress:
        return Fitted(whole, tuple(patches))
    summariser = Summariser(llm, conversation, compress)
    room = _Room.of(whole)
    try:
        draft = await _draft(summariser, transcript, room, _extended(conversation, patches))
        if draft is not None:
            summary = ContextSummary(summary=draft.summary, through_seq=draft.through_seq)
            following = (*patches, summary)
            compiled = _inside(render(_visible(conversation, content, following)))
            return Fitted(compiled, following, draft, summariser.usage)
        if whole.estimated_tokens <= window:
            return Fitted(whole, tuple(patches))
        failure: StelloError = ContextTooLong("nothing is left that a summary could stand for")
    except StelloError as error:
        failure = error
    newest = _inside(render(_newest(transcript, room)))
    return Fitted(newest, tuple(patches), usage=summariser.usage, failure=failure)


async def compact(
    summariser: Summariser, conversation: Conversation, keep_last: int
) -> CompressionDraft | None:
    """Summarises all but the newest `keep_last` messages, whatever their size; whole tool groups only.

    Returns:
        The new summary; None where nothing is there to summarise, and no model was asked.

    Raises:
        ModelError: the model failed; the summary before it stays.
    """
    standing, messages = _apart(transcript_of(conversation, "")[:-1])
    cut = max(cut for cut in whole_cuts(messages) if cut == 0 or cut <= len(messages) - keep_last)
    if cut == 0:
        return None
    summary = await summariser.summary(standing, messages[:cut], summariser.limit)
    return _of(summary, messages, cut, _extended(conversation, ()))


@dataclass(frozen=True, slots=True)
class _Room:
    """Tokens, as they are estimated.

    Attributes:
        window: all of it. What the provider counted beyond the estimate makes it smaller, in proportion.
        besides: what takes room besides summary and transcript: the other slots, and the tools.
        summary: kept free for the summary.
    """

    window: int
    besides: int
    summary: int

    @classmethod
    def of(cls, compiled: Compiled) -> "_Room":
        """The room in the window of a request."""
        window = compiled.max_context_tokens
        guessed = estimate(compiled.messages, compiled.tools)
        slots = [m for m in compiled.messages if m.role == "system" and not _is_summary(m)]
        return cls(
            window=window * guessed // max(guessed, compiled.estimated_tokens),
            besides=estimate(slots, compiled.tools),
            summary=summary_limit(window),
        )


async def _draft(
    summariser: Summariser, transcript: Transcript, room: _Room, extends: int
) -> CompressionDraft | None:
    """The new summary, None where there is nothing that it could stand for, or no room for it."""
    standing, messages = _apart(transcript)
    most = room.window - room.besides - room.summary
    cut = place_to_cut(messages, most - room.window // 5, most)
    if cut == 0 or costs_from(messages)[cut] > most:
        return None
    summary = await summariser.summary(standing, messages[:cut], room.summary)
    return _of(summary, messages, cut, extends)


def _newest(transcript: Transcript, room: _Room) -> Transcript:
    """The standing summary and as much of what follows as fits into nine tenths of the window."""
    summary = tuple(message for message in transcript if _is_summary(message))
    budget = 9 * room.window // 10 - room.besides - estimate(summary)
    kept = newest_within(transcript[len(summary) :], budget)
    # What a call took says nothing any more once messages are left out.
    return tuple(m.model_copy(update={"usage": None}) if m.usage else m for m in (*summary, *kept))


def _visible(conversation: Conversation, content: str, patches: Sequence[Patch]) -> Transcript:
    """The transcript after `patches`, without the user's input where a summary covers it.

    A summary of this turn's does where it goes as far as the message before the turn's first; one that was
    made before another process took over has left it blank.
    """
    transcript = patch(transcript_of(conversation, content), patches)
    summaries = [each.through_seq for each in patches if isinstance(each, ContextSummary)]
    stored = [each.seq for each in patches if not isinstance(each, ContextSummary) and each.seq is not None]
    covered = bool(summaries and stored) and summaries[-1] >= stored[0] - 1
    if not covered and not is_blank(content):
        return transcript
    return tuple(message for message in transcript if message.origin is not ContextOrigin.USER_INPUT)


def _extended(conversation: Conversation, patches: Sequence[Patch]) -> int:
    """Up to where the summary that stands now goes, 0 where there is none."""
    summaries = [each.through_seq for each in patches if isinstance(each, ContextSummary)]
    stored = conversation.session.compression
    return summaries[-1] if summaries else stored.through_seq if stored else 0


def _apart(transcript: Transcript) -> tuple[str, Transcript]:
    """The text of the standing summary, "" where there is none, and the messages after it."""
    summary = [message.content for message in transcript if _is_summary(message)]
    return "".join(summary), transcript[len(summary) :]


def _of(summary: str, messages: Transcript, cut: int, extends: int) -> CompressionDraft | None:
    if not summary:
        return None
    through = through_of(messages, cut)
    first = messages[0].seq
    return CompressionDraft(
        summary=summary,
        through_seq=through,
        tokens=tokens_of(summary),
        first_seq=through if first is None else first,
        extends=extends,
    )


def _inside(compiled: Compiled) -> Compiled:
    if compiled.estimated_tokens > compiled.max_context_tokens:
        raise ContextTooLong(
            f"the request takes about {compiled.estimated_tokens} tokens, "
            f"and the window has {compiled.max_context_tokens}"
        )
    return compiled


def _is_summary(message: ContextMessage) -> bool:
    return message.origin is ContextOrigin.COMPRESSION

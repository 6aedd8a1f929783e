/** The transcript: it keeps the reader's place while pages come and go, and follows the end where the reader is there. */
import { html, useEffect, useLayoutEffect, useRef, useSignal } from '../html.js';
import { reason, sayRefusal } from '../shell/toasts.js';
import { t } from '../texts.js';
import { LiveTurn, Outcome, OutgoingMessage } from './live-turn.js';
import { From, Message } from './message.js';
import { name } from './sources.js';
import { groupsOf } from './transcript.js';
import { Vanishing } from './vanishing.js';

const NEAR_PX = 800;
const AT_END_PX = 40;

/** @typedef {import('./conversation.js').Conversation} Conversation */

/** @param {{talk: Conversation}} props */
export function TranscriptView({ talk }) {
  const box = useRef(/** @type {HTMLElement | null} */ (null));
  const list = useRef(/** @type {HTMLElement | null} */ (null));
  const reader = useRef({ place: /** @type {Place | null} */ (null), top: 0, newest: 0 });
  const unseen = useSignal(false);
  const { transcript, atEnd } = talk;
  const groups = groupsOf(transcript.messages.value);
  // Before the new pages are in the page.
  if (box.current) reader.current.place = placeOf(box.current);

  const settle = () => {
    const element = box.current;
    // What was asked for may come after the session was closed.
    if (!element) return;
    if (atEnd.value && !transcript.hasNewer.value) element.scrollTop = element.scrollHeight;
    else keep(element, reader.current.place);
    reader.current.top = element.scrollTop;
    fill(element, talk);
  };
  const scrolled = (/** @type {any} */ { currentTarget: element }) => {
    const left = element.scrollHeight - element.scrollTop - element.clientHeight;
    const wentUp = element.scrollTop < reader.current.top - 1;
    atEnd.value = !transcript.hasNewer.value && (left < AT_END_PX || (atEnd.value && !wentUp));
    reader.current.place = placeOf(element);
    reader.current.top = element.scrollTop;
    if (atEnd.value) unseen.value = false;
    fill(element, talk);
  };
  useLayoutEffect(settle);
  useEffect(() => {
    const observer = new ResizeObserver(settle);
    observer.observe(/** @type {Element} */ (list.current));
    observer.observe(/** @type {Element} */ (box.current));
    return () => observer.disconnect();
  }, []);
  const newest = transcript.messages.value.at(-1)?.seq ?? 0;
  useEffect(() => {
    if (!atEnd.value && newest > reader.current.newest) unseen.value = true;
    reader.current.newest = Math.max(reader.current.newest, newest);
  }, [newest]);
  const sources = [...groups.map((group) => group.head.sessionId), talk.session.value?.node?.sourceSessionId ?? talk.id];
  useEffect(() => name(sources.filter((id) => id !== talk.id)), [sources.join()]);

  return html`
    <div class="transcript" ref=${box} tabindex="0" role="region" aria-label=${t('talk.transcript')} onScroll=${scrolled}>
      <div class="messages" ref=${list}>
        <${Messages} talk=${talk} groups=${groups} />
        ${transcript.hasNewer.value ? null : html`<${OnItsWay} talk=${talk} />`}
      </div>
    </div>
    ${atEnd.value ? null : html`
      <${Vanishing} class="to-end">
        <button type="button" onClick=${() => talk.toEnd().then(settle)}>${t(unseen.value ? 'talk.newMessages' : 'talk.toEnd')} ↓</button>
      <//>`}`;
}

/** @param {{talk: Conversation, groups: import('./transcript.js').Group[]}} props */
function Messages({ talk, groups }) {
  const { transcript, turn, sending, session } = talk;
  if (!transcript.loaded.value) return html`<${Loading} talk=${talk} />`;
  if (transcript.isEmpty.value && !turn.value && !sending.outgoing.value && !session.value?.node?.sourceSessionId) {
    return html`<p class="quiet empty">${t('talk.empty')}</p>`;
  }
  const line = forkLineAt(talk, groups);
  const mayFork = session.value?.status === 'ACTIVE';
  const drawn = groups.flatMap((group, place) => [
    place === line ? html`<${ForkLine} key="fork" talk=${talk} />` : null,
    html`<${Message} key=${group.head.seq} group=${group} talk=${talk} mayFork=${mayFork} />`,
  ]);
  return html`
    ${transcript.hasOlder.value ? html`<p class="quiet older" role="status">${t('talk.older')}</p>` : null}
    ${drawn}
    ${line === groups.length ? html`<${ForkLine} key="fork" talk=${talk} />` : null}`;
}

/** @param {{talk: Conversation}} props */
function OnItsWay({ talk }) {
  return html`
    <${OutgoingMessage} talk=${talk} />
    <${LiveTurn} talk=${talk} />
    <${Outcome} talk=${talk} />`;
}

/** @param {{talk: Conversation}} props */
function Loading({ talk }) {
  const problem = talk.problem.value;
  if (!problem) return html`<p class="quiet" role="status">${t('talk.loading')}</p>`;
  return html`
    <${Vanishing} class="notice row" role="alert">
      <span class="grow">${reason(problem)}</span>
      <button type="button" onClick=${() => talk.refresh()}>${t('talk.again')}</button>
    <//>`;
}

/**
 * Before which group the fork lies: what is above was written elsewhere.
 * @param {Conversation} talk
 * @param {import('./transcript.js').Group[]} groups
 */
function forkLineAt({ id, session, transcript }, groups) {
  if (!session.value?.node?.sourceSessionId) return -1;
  const own = groups.findIndex((group) => group.head.sessionId === id);
  if (own > 0) return own;
  if (own === 0) return transcript.hasOlder.value ? -1 : 0;
  return transcript.hasNewer.value ? -1 : groups.length;
}

/** @param {{talk: Conversation}} props */
function ForkLine({ talk }) {
  const source = talk.session.value?.node?.sourceSessionId;
  return html`
    <div class="fork-line" role="group" aria-label=${t('talk.forked')}>
      <span>${t('talk.forked')}</span> ${source ? html`<${From} id=${source} />` : null}
    </div>`;
}

/** @typedef {{seq: string, top: number}} Place a message that is in sight, and how far below the upper edge */

/** @param {HTMLElement} box @returns {Place | null} */
function placeOf(box) {
  const edge = box.getBoundingClientRect().top;
  for (const element of /** @type {NodeListOf<HTMLElement>} */ (box.querySelectorAll('[data-seq]'))) {
    const { top, bottom } = element.getBoundingClientRect();
    if (bottom > edge) return { seq: element.dataset.seq ?? '', top: top - edge };
  }
  return null;
}

/** @param {HTMLElement} box @param {Place | null} place */
function keep(box, place) {
  const element = place && box.querySelector(`[data-seq="${place.seq}"]`);
  if (!element) return;
  box.scrollTop += element.getBoundingClientRect().top - box.getBoundingClientRect().top - place.top;
}

/** Loads what the reader is near to. @param {HTMLElement} box @param {Conversation} talk */
function fill(box, { transcript }) {
  const below = box.scrollHeight - box.scrollTop - box.clientHeight;
  if (box.scrollTop < NEAR_PX) transcript.older().catch(sayRefusal);
  if (below < NEAR_PX) transcript.newer().catch(sayRefusal);
}

/** The whole page: header, map, and what is open beside it. */
import { Sky } from '../forest/sky.js';
import { query } from '../graphql.js';
import { html, useEffect } from '../html.js';
import { Events } from '../panels/events.js';
import { Memory } from '../panels/memory.js';
import { Preview } from '../panels/preview.js';
import { Settings } from '../panels/settings.js';
import { SpacePage } from '../panels/space.js';
import { openId, sidePage, space, tab, viewer } from '../state.js';
import { Talk } from '../talk/talk.js';
import { Dialogs } from './dialog.js';
import { Toasts, sayRefusal } from './toasts.js';

const WHO = '{ me { spaceId keyName scope } space { id name config { model } } }';
const SIDES = { talk: Talk, memory: Memory, preview: Preview, settings: Settings };
const PAGES = { events: Events, space: SpacePage };

export function Page() {
  useEffect(() => {
    query(WHO).then((data) => {
      viewer.value = data.me;
      space.value = data.space;
    }).catch(sayRefusal);
  }, []);
  return html`
    <main><${Sky} /></main>
    <${Side} />
    <${Dialogs} />
    <${Toasts} />`;
}

function Side() {
  if (sidePage.value) return html`<aside><${PAGES[sidePage.value]} /></aside>`;
  if (openId.value === null) return null;
  return html`<aside><${SIDES[tab.value]} key=${openId.value} id=${openId.value} /></aside>`;
}

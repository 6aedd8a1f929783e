import { html, render } from './html.js';
import { Page } from './shell/page.js';

render(html`<${Page} />`, /** @type {HTMLElement} */ (document.getElementById('page')));

/** Server-sent events out of the body of a fetch; EventSource can neither POST nor send a key. */

/**
 * @param {ReadableStream<any>} body
 * @param {() => void} [heard] told whenever anything comes, also a comment
 * @returns {AsyncGenerator<{event: string, data: string}>} comments are left out
 */
export async function* streamEvents(body, heard = () => {}) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let text = '';
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    heard();
    const blocks = (text + value).replace(/\r\n/g, '\n').split('\n\n');
    text = blocks.pop() ?? '';
    for (const block of blocks) {
      const found = parsed(block);
      if (found) yield found;
    }
  }
}

/** @param {string} block */
function parsed(block) {
  let event = 'message';
  const data = [];
  for (const line of block.split('\n')) {
    const [, field, value] = /^([a-z]+): ?(.*)$/.exec(line) ?? [];
    if (field === 'event') event = value;
    if (field === 'data') data.push(value);
  }
  return data.length || event !== 'message' ? { event, data: data.join('\n') } : null;
}

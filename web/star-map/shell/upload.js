/** Sends a file and hears, line by line, what comes of it. */
import { authorization, Refusal, refusalOf } from '../graphql.js';
import { PREFIX } from '../storage.js';

/**
 * By XMLHttpRequest, since fetch tells neither how much is sent nor what is answered meanwhile.
 * @param {string} path relative to the page
 * @param {Blob} file
 * @param {{sent: (bytes: number) => void, line: (value: any) => void, signal: AbortSignal}} listener
 * @returns {Promise<void>} once the answer is whole
 * @throws {Refusal} where it was not taken, or broke off
 */
export function upload(path, file, { sent, line, signal }) {
  const request = new XMLHttpRequest();
  let heard = 0;
  const hear = () => {
    const end = request.responseText.lastIndexOf('\n') + 1;
    const lines = request.responseText.slice(heard, end).split('\n').filter(Boolean);
    heard = Math.max(heard, end);
    for (const text of lines) line(JSON.parse(text));
  };
  return new Promise((done, fail) => {
    const broken = () => fail(new Refusal('OFFLINE', 'The connection was lost.'));
    request.upload.onprogress = ({ loaded }) => sent(loaded);
    request.onprogress = () => request.status === 200 && hear();
    request.onload = () => {
      if (request.status !== 200) return fail(refusalIn(request));
      hear();
      done();
    };
    request.onerror = broken;
    request.onabort = broken;
    signal.addEventListener('abort', () => request.abort());
    request.open('POST', PREFIX + path);
    request.setRequestHeader('Content-Type', 'application/octet-stream');
    for (const [name, value] of Object.entries(authorization())) request.setRequestHeader(name, value);
    request.send(file);
  });
}

/** @param {XMLHttpRequest} request @returns {Refusal} whose extensions have the status too */
function refusalIn({ status, statusText, responseText }) {
  const [error] = errorsIn(responseText);
  if (!error) return new Refusal('INTERNAL', `HTTP ${status} ${statusText}`.trim(), { status });
  return refusalOf({ ...error, extensions: { ...error.extensions, status } });
}

/** @param {string} text of a server, or of a proxy before it @returns {any[]} */
function errorsIn(text) {
  try {
    return JSON.parse(text).errors ?? [];
  } catch {
    return [];
  }
}

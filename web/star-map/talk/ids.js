/** An id that nobody else has; `crypto.randomUUID` is missing where a page came without TLS. */
export function newId() {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return [...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('');
}

/**
 * Pauses of connections that are refused (429, 503), in milliseconds. A client that ignores Retry-After could keep a core
 * busy with refusals alone; a pause limits each of its connections to a few dozen a second, each answered within 50 ms.
 * Pauses are random: connections that were refused together would otherwise return together and delay everybody else.
 */
const between = (shortest: number, longest: number) => shortest + Math.random() * (longest - shortest);

/** Between a refusal and the next request of its connection. */
export const pauseAfterRefusal = () => between(25, 45);

/** Before a refusal that ends its connection. A client opens the next one without a pause. */
export const pauseBeforeClosing = () => between(10, 30);

/** Whether a response is a refusal that a client may cause as often as it likes. */
export const isRefusal = (status: number) => status === 429 || status === 503;

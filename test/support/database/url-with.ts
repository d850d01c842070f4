/** The URL with other parts, such as another password or port. */
export const urlWith = (url: string, parts: Partial<URL>): string => Object.assign(new URL(url), parts).href;

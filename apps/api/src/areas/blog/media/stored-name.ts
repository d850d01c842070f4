const MOST_CHARACTERS = 100;

/** The sanitized file name, with the real extension. The name may be as long as a part's headers, so every expression here must be linear. */
export function storedName(given: string, extension: string): string {
  const path = given.replaceAll('\\', '/');
  const name = path.slice(path.lastIndexOf('/') + 1).replaceAll(/[^A-Za-z0-9._-]+/g, '');
  const stem = name.slice(0, name.includes('.') ? name.lastIndexOf('.') : name.length);
  const kept = stem
    .replace(/^\.+/, '')
    .slice(0, MOST_CHARACTERS - extension.length - 1)
    .replace(/\.+$/, '');
  return `${kept || 'image'}.${extension}`;
}

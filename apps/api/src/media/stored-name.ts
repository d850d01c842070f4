const MOST_CHARACTERS = 100;

/** What is left of a client's name for a file: letters, digits, dots, dashes and underscores, and the real extension. */
export function storedName(given: string, extension: string): string {
  const [last = ''] = given.split(/[/\\]/).slice(-1);
  const stem = last
    .replaceAll(/[^A-Za-z0-9._-]/g, '')
    .replace(/\.[^.]*$/, '')
    .replaceAll(/^\.+|\.+$/g, '')
    .slice(0, MOST_CHARACTERS - extension.length - 1)
    .replace(/\.+$/, '');
  return `${stem || 'image'}.${extension}`;
}

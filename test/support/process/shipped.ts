import { readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { fileURLToPath } from 'node:url';

const DOCS = new URL('../../../docs/', import.meta.url);

/** A file of docs/ in which each of these texts is replaced by another: so the tests run what operators copy. */
export function edited(name: string, changes: Record<string, string>): string {
  let text = readFileSync(fileURLToPath(new URL(name, DOCS)), 'utf8');
  for (const [from, to] of Object.entries(changes)) {
    if (!text.includes(from)) throw new Error(`docs/${name} does not say "${from}"`);
    text = text.replace(from, () => to);
  }
  return text;
}

export function listens(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => {
      resolve(true);
      socket.destroy();
    });
    socket.on('error', () => resolve(false));
  });
}

import { type Link, PostgresProxy } from './proxy.js';

/** COMMIT, sent alone as a simple query. */
const COMMIT = Buffer.from('Q\0\0\0\x0bCOMMIT\0', 'latin1');
/** Every write with an idempotency key runs this, which each connection prepares under a name. */
const CLAIM = /(w\d+)\0[^\0]*INSERT INTO idempotency_keys/;

/** Can withhold PostgreSQL's answer to a COMMIT: the write is done, but the API does not know. */
export class CommitTrap extends PostgresProxy {
  private sprung: (() => void) | null = null;

  /** Resolves when the next write with a key is committed. From then on its connection gets no answers. */
  spring(): Promise<void> {
    return new Promise((resolve) => (this.sprung = resolve));
  }

  protected override carry({ client, upstream }: Link): void {
    let [claimed, name] = [false, ''];
    let caught: (() => void) | null = null;
    client.on('data', (chunk) => {
      const text = chunk.toString('latin1');
      name = CLAIM.exec(text)?.[1] ?? name;
      if (name && text.includes(`\0${name}\0`)) claimed = true;
      if (claimed && this.sprung && chunk.equals(COMMIT)) {
        caught = this.sprung;
        this.sprung = null;
      }
      if (chunk.equals(COMMIT)) claimed = false;
      upstream.write(chunk);
    });
    upstream.on('data', (chunk) => {
      if (caught) caught();
      else client.write(chunk);
    });
  }
}

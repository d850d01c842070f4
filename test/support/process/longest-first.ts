import { createHash } from 'node:crypto';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Specs that take over 15 s. At the end of a run they would leave the other workers idle. */
const LONG = [
  'deadlines', 'faults-of-reads', 'fuzz', 'idempotency', 'images-process', 'images-refused', 'images-temporary',
  'killed-bulk-invite', 'lingering-close', 'linear-work', 'rate-limit-redis', 'shutdown', 'embedded-postgres',
  'start', 'start-refused', 'join-browser', 'join-passkeys-browser', 'keys-browser', 'pages', 'sweep',
].map((name) => `/${name}.spec.ts`); // prettier-ignore

/** Runs the long files first, otherwise in a random order that the seed determines. */
export class LongestFirst extends BaseSequencer {
  override sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const { seed } = this.ctx.config.sequence;
    const placeOf = ({ moduleId }: TestSpecification) => {
      const chance = createHash('sha1').update(`${seed} ${moduleId}`).digest('hex');
      return `${LONG.some((name) => moduleId.endsWith(name)) ? 0 : 1} ${chance}`;
    };
    return Promise.resolve(files.toSorted((a, b) => (placeOf(a) < placeOf(b) ? -1 : 1)));
  }
}

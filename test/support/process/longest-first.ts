import { createHash } from 'node:crypto';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Specs that take over 15 s. At the end of a run they would leave the other workers idle. */
const LONG = [
  'api/deadlines',
  'api/faults-of-reads',
  'api/fuzz',
  'api/idempotency',
  'api/images-process',
  'api/images-refused',
  'api/images-temporary',
  'api/killed-bulk-invite',
  'api/lingering-close',
  'api/linear-work',
  'api/rate-limit-redis',
  'api/shutdown',
  'cli/embedded-postgres',
  'cli/start',
  'cli/start-refused',
  'portal/join-browser',
  'portal/join-passkeys-browser',
  'portal/keys-browser',
  'portal/pages',
  'portal/sweep',
].map((name) => `/test/${name}.spec.ts`);

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

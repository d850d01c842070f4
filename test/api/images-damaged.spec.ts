import { cleanImage } from '../../apps/api/src/media/images/image.js';
import { FORMATS, photo, SECRETS } from '../support/images.js';
import { Random } from '../support/random.js';

const FILES = Number(process.env.FILES ?? 4_000);
const SEED = Number(process.env.SEED ?? Date.now() % 1_000_000);

/** The first bytes are mostly structure: half of the files are damaged there. */
const HEAD = 900;

/** A GIF has no place for what cameras write. */
const WITH_METADATA = FORMATS.map(({ format }) => format).filter((format) => format !== 'gif');

describe.each(WITH_METADATA)('a damaged %s', (format) => {
  it(`is refused, or stored without what was in its metadata (${FILES} files, seed ${SEED})`, async () => {
    const random = new Random(SEED);
    const sound = await photo(format, 1, { width: 200, height: 200 });
    expect(SECRETS.some((secret) => sound.includes(secret))).toBe(true);
    const kept: string[] = [];
    let stored = 0;
    for (let file = 0; file < FILES; file++) {
      const damaged = Buffer.from(sound);
      const reach = file % 2 === 0 ? damaged.length : Math.min(HEAD, damaged.length);
      for (let times = 1 + random.integer(20); times > 0; times--) damaged[random.integer(reach)] = random.integer(256);
      const cleaned = await cleanImage(damaged).catch(() => null);
      if (!cleaned) continue;
      stored++;
      const bytes = Buffer.concat(cleaned.pieces);
      const found = SECRETS.filter((secret) => bytes.includes(secret));
      if (found.length > 0) kept.push(`file ${file}: ${found.join(', ')}`);
    }
    expect(kept).toEqual([]);
    // Whoever tests its own checksums takes hardly any; of the others many are still pictures.
    if (format !== 'png') expect(stored).toBeGreaterThan(FILES / 10);
  }, 60_000);
});

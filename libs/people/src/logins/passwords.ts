/** Loaded with the first password: the API, which hashes none, saves its memory. */
const argon2 = async () => (await import('@node-rs/argon2')).default;

/** OWASP's parameters for argon2id (the library's default): 19 MiB, two passes, one lane. */
const COST = { memoryCost: 19_456, timeCost: 2, parallelism: 1 };

/** Salt and parameters for a login without a password: hashing takes as long as for one with. */
const NOBODYS = '$argon2id$v=19$m=19456,t=2,p=1$xCsQayjQZPUdPo06wjoGMg$';

/** In code points. The maximum bounds the cost of hashing. */
const SHORTEST = 10;
const LONGEST = 1_000;

/** Why this password is not allowed; null when it is. */
export function refusedPassword(password: string): string | null {
  const length = Array.from(password).length;
  if (length < SHORTEST) return `Use at least ${SHORTEST} characters.`;
  return length > LONGEST ? `Use at most ${LONGEST} characters.` : null;
}

/** Runs the hashing of a password when there is capacity for it. `work` should do nothing else. */
export type Hashing = <T>(work: () => Promise<T>) => Promise<T>;

/** For programs that hash few passwords. */
export const unlimited: Hashing = (work) => work();

/** Passwords are hashed off the event loop. */
export async function hashPassword(password: string): Promise<string> {
  return (await argon2()).hash(password.normalize('NFKC'), COST);
}

/** The hash of a password as a login's own was made (`salt`: its PHC string without the hash). Takes equally long without one. */
export async function hashAs(password: string, salt: string | null): Promise<string> {
  const { hash, parseOptions } = await argon2();
  const like = salt ?? NOBODYS;
  const parameters = parseOptions(`${like}${'A'.repeat(43)}`);
  return hash(password.normalize('NFKC'), { ...parameters, salt: Buffer.from(like.split('$').at(-2)!, 'base64') });
}

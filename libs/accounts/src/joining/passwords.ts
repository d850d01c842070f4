/** Loaded with the first password: the API, which hashes none, saves its memory. */
const argon2 = async () => (await import('@node-rs/argon2')).default;

/** OWASP's parameters for argon2id (the library's default): 19 MiB, two passes, one lane. */
const COST = { memoryCost: 19_456, timeCost: 2, parallelism: 1 };

/** The hash of a random password that nobody kept, at the same cost. */
const NOBODYS = '$argon2id$v=19$m=19456,t=2,p=1$xCsQayjQZPUdPo06wjoGMg$JUhDNetaOKNfunEjynTLxqX2fHE0lWw35cpWWA65/5g';

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

/** Takes equally long with and without a stored hash. */
export async function isPassword(password: string, stored: string | null): Promise<boolean> {
  const right = await (await argon2()).verify(stored ?? NOBODYS, password.normalize('NFKC'));
  return right && stored !== null;
}

/** Where to go after signing in: always a path in the portal, whatever was requested. */
export function nextPath(wanted: unknown): string {
  if (typeof wanted !== 'string' || wanted.length > 1_000 || !/^\/(?![/\\])[\x21-\x7e]*$/.test(wanted)) return '/';
  const base = 'http://portal.invalid';
  if (!URL.canParse(wanted, base)) return '/';
  const { origin, pathname, search } = new URL(wanted, base);
  // A browser could read the normalized path as another host.
  if (origin !== base || pathname.startsWith('//')) return '/';
  return pathname === '/sign-out' || pathname === '/sign-in' ? '/' : `${pathname}${search}`;
}

/** `-12.27` for -1227 cents. */
export function decimalOf(cents: bigint): string {
  const [sign, size] = cents < 0n ? ['-', -cents] : ['', cents];
  return `${sign}${size / 100n}.${String(size % 100n).padStart(2, '0')}`;
}

/** Null if it fails or is late. If this process was held up, the answer may be waiting unread: reads once more first. @param patience ms */
export function inTime<T>(answer: Promise<T> | undefined, patience: number): Promise<T | null> {
  return new Promise((resolve) => {
    const giveUp = () => resolve(null);
    const timer = setTimeout(() => setImmediate(giveUp), patience);
    void Promise.resolve(answer)
      .then((value) => resolve(value ?? null), giveUp)
      .finally(() => clearTimeout(timer));
  });
}

/**
 * Ends this process when the one that launched it ends, because nothing else would. A process that was started without a
 * launcher goes on.
 */
export function endWithLauncher(): void {
  const end = () => process.kill(process.pid, 'SIGTERM');
  process.once('disconnect', end);
  // The launcher may have ended while the modules of this process were loaded.
  if (process.send && !process.connected) end();
}

/** Tells the launcher, if there is one, that this process is ready. */
export function tellLauncher(message: object): void {
  if (process.connected) process.send!(message);
}

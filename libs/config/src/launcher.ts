/** Longer than an orderly end takes (ms). */
const LONGEST_END = 15_000;

/** Ends this process with the one that launched it, if any: nothing else would. */
export function endWithLauncher(): void {
  const end = () => {
    process.kill(process.pid, 'SIGTERM');
    // Something may hang, for example a database that ended with the launcher.
    setTimeout(() => process.exit(1), LONGEST_END).unref();
  };
  process.once('disconnect', end);
  // The launcher may have ended while the modules of this process were loaded.
  if (process.send && !process.connected) end();
}

/** Tells the launcher, if there is one, that this process is ready. */
export function tellLauncher(message: object): void {
  if (process.connected) process.send!(message);
}

import { inject } from 'vitest';

declare module 'vitest' {
  export interface ProvidedContext {
    /** Stryker's. */
    globalNamespace: string;
  }
}

// The process may have run another mutant before. Stryker activates the next one in a hook, after the file has started
// its fixtures, which would otherwise start with the previous one.
const stryker = (globalThis as Record<string, { activeMutant?: string } | undefined>)[inject('globalNamespace')];
if (stryker) stryker.activeMutant = undefined;

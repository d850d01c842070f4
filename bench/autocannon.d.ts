/** The part of autocannon that the load generator uses; the package has no types. */
declare module 'autocannon' {
  export interface Instance extends PromiseLike<{ errors: number; timeouts: number }> {
    on(
      event: 'response',
      listener: (client: unknown, status: number, bytes: number, milliseconds: number) => void,
    ): void;
  }
  export default function autocannon(options: {
    url: string;
    headers: Record<string, string>;
    connections: number;
    duration?: number;
    amount?: number;
    sampleInt: number;
    overallRate?: number;
  }): Instance;
}

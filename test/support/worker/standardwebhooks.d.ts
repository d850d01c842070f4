/** What specs use of the package; its own types need the DOM. */
declare module 'standardwebhooks' {
  export class Webhook {
    constructor(secret: string);
    /** @throws Error unless one of the signatures is made with the secret, within five minutes */
    verify(payload: string, headers: Record<string, string>): unknown;
  }
}

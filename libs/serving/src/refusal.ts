/** A finished answer that is sent instead of the one that was asked for. */
export interface Refusal {
  status: number;
  /** With the Content-Type of the body. */
  headers: Record<string, string>;
  body: string;
}

/** What HTTP itself forbids. Each app says it in its own words. */
export interface HttpFault {
  status: number;
  message: string;
}

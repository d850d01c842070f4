/** A complete response that refuses a request. */
export interface Refusal {
  status: number;
  /** With the Content-Type of the body. */
  headers: Record<string, string>;
  body: string;
}

/** A violation of HTTP itself. Each app has its own words for it. */
export interface HttpFault {
  status: number;
  message: string;
}

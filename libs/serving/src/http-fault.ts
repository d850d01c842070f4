/** A violation of HTTP itself. Each app has its own words for it. */
export interface HttpFault {
  status: number;
  message: string;
}

/** A complete response to input that is not a request. */
export interface RawResponse {
  status: number;
  /** With the Content-Type of the body. */
  headers: Record<string, string>;
  body: string;
}

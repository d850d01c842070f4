import { isWrite } from '../request/attempt.js';

interface Sample {
  method: string;
  /** The template, such as `/v1/students/{student_id}`. */
  path: string;
  /** Whether it needs the header, as `ETAG`. */
  ifMatch?: boolean;
  body: 'none' | 'upload' | { example: unknown };
}

/** A call to paste, once `BASE`, `KEY`, the ids of the path and, if needed, `ETAG` are set. */
export function curlOf({ method, path, body, ifMatch }: Sample): string {
  const url = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => `$${name.toUpperCase()}`);
  const lines = [
    `curl ${method === 'GET' ? '' : `-X ${method} `}"$BASE${url}"`,
    `-H "Authorization: Token token=$KEY"`,
    ...(isWrite(method) && method === 'POST' ? [`-H "Idempotency-Key: $(uuidgen)"`] : []),
    ...(ifMatch ? [`-H "If-Match: $ETAG"`] : []),
    ...bodyOf(body),
  ];
  return lines.join(' \\\n  ');
}

function bodyOf(body: Sample['body']): string[] {
  if (body === 'none') return [];
  if (body === 'upload') return [`-F file=@picture.png`];
  const json = JSON.stringify(body.example, null, 2).replaceAll("'", `'\\''`);
  return [`-H 'Content-Type: application/json'`, `-d '${json}'`];
}

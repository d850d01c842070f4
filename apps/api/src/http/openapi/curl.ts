import { isWrite } from '../request/attempt.js';

interface Sample {
  method: string;
  /** The template, such as `/v1/students/{student_id}`. */
  path: string;
  body: 'none' | 'upload' | { example: unknown };
}

/** A call to paste, once `BASE`, `KEY` and the ids of the path are set. */
export function curlOf({ method, path, body }: Sample): string {
  const url = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => `$${name.toUpperCase()}`);
  const lines = [
    `curl ${method === 'GET' ? '' : `-X ${method} `}"$BASE${url}"`,
    `-H "Authorization: Token token=$KEY"`,
    ...(isWrite(method) && method === 'POST' ? [`-H "Idempotency-Key: $(uuidgen)"`] : []),
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

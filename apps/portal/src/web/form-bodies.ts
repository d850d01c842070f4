import express, { type NextFunction, type Request, type RequestHandler, type Response } from 'express';
import { PageError } from './page-error.js';

/** The maximum length of a form (bytes). The longest field is a password of a thousand characters. */
const LARGEST = 32_768;
const MOST_FIELDS = 200;

const PARSERS: RequestHandler[] = [
  express.urlencoded({
    extended: false,
    limit: LARGEST,
    parameterLimit: MOST_FIELDS,
    inflate: false,
    verify: (_request, _response, body) => {
      if (!isUtf8(body)) throw PageError.badForm();
    },
  }),
  express.json({ limit: LARGEST, inflate: false }),
];

/** Whether a form is valid UTF-8. The parser would keep any other escape as it is, as if somebody had typed it. */
function isUtf8(form: Buffer): boolean {
  try {
    decodeURIComponent(new TextDecoder('utf-8', { fatal: true }).decode(form));
    return true;
  } catch {
    return false;
  }
}

/** Middleware: reads forms, and the JSON of passkeys. What is longer is refused unread. */
export async function readForms(request: Request, response: Response, next: NextFunction): Promise<void> {
  for (const parse of PARSERS) await run(parse, request, response);
  next();
}

/** @throws the error that the middleware passes on */
export function run(middleware: RequestHandler, request: Request, response: Response): Promise<void> {
  return new Promise((resolve, reject) => {
    const next = (error?: Error | 'route' | 'router') => {
      if (error instanceof Error) reject(error);
      else resolve();
    };
    void middleware(request, response, next);
  });
}

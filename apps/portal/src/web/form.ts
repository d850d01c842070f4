import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { Request } from 'express';
import { canonicalUuid, isStorable } from '@app/database';
import { PageError } from './page-error.js';

/** An id that a page offers. @throws PageError for what no page offers */
export function idIn(text: string): string {
  const id = canonicalUuid(text);
  if (id === null) throw PageError.badForm();
  return id;
}

/** The fields of a submitted form. Missing fields are empty. */
export class Form {
  constructor(private readonly body: unknown) {}

  /** Identifies the form, which counts once however often it is sent. @throws PageError for a form without one */
  get token(): string {
    return idIn(this.text('form_token'));
  }

  /** A field without surrounding whitespace. @throws PageError if it was sent twice or cannot be stored */
  text(name: string): string {
    return this.exact(name).trim();
  }

  /** An id that the page offers; null for none. @throws PageError for what no page offers */
  id(name: string): string | null {
    const text = this.text(name);
    return text === '' ? null : idIn(text);
  }

  /** The ids of checkboxes. @throws PageError for what no page offers */
  ids(name: string): string[] {
    return this.list(name).map(idIn);
  }

  /** A field exactly as it was typed, for passwords. */
  exact(name: string): string {
    const value = this.valueOf(name) ?? '';
    // Browsers end lines with CR LF.
    if (typeof value === 'string' && isStorable(value)) return value.replaceAll('\r\n', '\n');
    throw PageError.badForm();
  }

  /** All fields, for a page that sends them again. */
  all(): Record<string, string> {
    const names = typeof this.body === 'object' && this.body !== null ? Object.keys(this.body) : [];
    return Object.fromEntries(names.map((name) => [name, this.text(name)]));
  }

  /** All values of a field that may occur several times, such as checkboxes. */
  list(name: string): string[] {
    const value = this.valueOf(name) ?? [];
    const values: unknown[] = Array.isArray(value) ? value : [value];
    return values.map((one) => {
      if (typeof one === 'string' && isStorable(one)) return one;
      throw PageError.badForm();
    });
  }

  /** JSON that a script put into a field. @throws PageError if it is invalid */
  json(name: string): unknown {
    try {
      return JSON.parse(this.exact(name));
    } catch {
      throw PageError.badForm();
    }
  }

  private valueOf(name: string): unknown {
    const { body } = this;
    if (typeof body !== 'object' || body === null || !Object.hasOwn(body, name)) return undefined;
    return (body as Record<string, unknown>)[name];
  }
}

/** The form of the request: `@SentForm() form: Form`. */
export const SentForm = createParamDecorator((_: unknown, context: ExecutionContext): Form => {
  return new Form(context.switchToHttp().getRequest<Request>().body);
});

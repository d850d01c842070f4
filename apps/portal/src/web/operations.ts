import { Injectable } from '@nestjs/common';
import type { Exactly, IdNames, Result, Worded } from '@app/audit';
import { Operations } from '@app/people';
import type { Managed } from './access.decorators.js';
import { type Page, seeOther, type SeeOther } from './pages.js';
import { unlessRefused } from './refusals.js';

interface Way {
  /** Its form may be sent twice: the second one changes nothing, or is refused. */
  repeatable?: boolean;
  /** It is about people: the organization is locked, too. */
  people?: boolean;
  /** Of a form of somebody's own, who need not manage the organization: the rule asks who they are. */
  own?: boolean;
  /** Of a form of somebody who teaches, about their own teaching. */
  teaching?: boolean;
  /** Of a form that does the same for several: which of them, each of which counts once. */
  part?: string;
}

type Organization = Pick<Managed, 'organizationId' | 'by' | 'form'>;

/** What a page says about a form that had been sent before. */
export const SENT_BEFORE = 'This form had been sent before, and counts once. To do it again, use the form below.';

/** The operations of owners and admins, as forms carry them. */
@Injectable()
export class FormOperations {
  constructor(private readonly operations: Operations) {}

  /**
   * Performs an operation. Its form counts once, however often a browser sends it.
   *
   * @returns the rule's result; null if the form had been sent before
   * @throws PageError for a form without a token
   */
  perform<Of extends Worded, Made extends Result>(
    { organizationId, by, form }: Organization,
    operation: Of,
    ids: Record<IdNames<Of>, string>,
    run: () => Promise<Exactly<Made>>,
    { repeatable = false, people = false, own = false, teaching = false, part }: Way = {},
  ): Promise<Made | null> {
    const key = repeatable ? null : [form.token, ...Object.values<string>(ids), ...(part ? [part] : [])].join(' ');
    return this.operations.perform(organizationId, by, operation, ids, run, { key, people, own, teaching });
  }

  /**
   * Performs the operation of a form that may be sent twice.
   *
   * @param at the page of the form, which says what became of it, also if it was refused
   * @param done what it says, or the page that does
   */
  answer<Of extends Worded, Made extends Result, Shown extends Page | SeeOther = SeeOther>(
    organization: Organization,
    operation: Of,
    ids: Record<IdNames<Of>, string>,
    run: () => Promise<Exactly<Made>>,
    at: string,
    done: string | ((made: Made) => string | Shown | Promise<string | Shown>),
    { people }: Pick<Way, 'people'> = {},
  ): Promise<Shown | SeeOther> {
    const work = async (): Promise<Shown | SeeOther> => {
      const made = await this.perform(organization, operation, ids, run, { repeatable: true, people });
      const told = await (typeof done === 'string' ? done : done(made!));
      return typeof told === 'string' ? seeOther(at, 'success', told) : told;
    };
    return unlessRefused(work(), ({ kind, text }) => seeOther(at, kind, text));
  }
}

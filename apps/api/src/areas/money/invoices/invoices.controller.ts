import { Invoices } from '@app/billing';
import { listController, recordController, writeController } from '../../../http/kit.js';
import { paperController } from '../papers.js';
import { AddLine, CreateInvoice, FinalizeInvoice, lineOf, VoidInvoice } from './invoices.dto.js';
import { INVOICE, INVOICES } from './invoices.queries.js';

/** Accounts are locked before invoices. */
const VERSIONED = {
  versions: INVOICE,
  first: ({ organizationId, ids }: { organizationId: string; ids: { invoice_id: string } }, invoices: Invoices) =>
    invoices.lock(organizationId, ids.invoice_id),
};

const UNREACHABLE = ['no_payer', 'no_address', 'payer_changed'] as const;

const PDF = paperController({
  id: 'get_invoice_pdf',
  path: 'v1/invoices/:invoice_id/pdf',
  kind: 'invoice',
  summary: 'Leads to an invoice on paper',
  description:
    'The paper is the invoice as it was issued, without payments; it is made when it is first asked for, and its bytes stay the same from then on. ' +
    'A draft is a 409. Once its student or payer was erased, only owners are shown it, in the portal: 404.',
});

const ADJUSTMENT_NOTE = paperController({
  id: 'get_invoice_adjustment_note',
  path: 'v1/invoices/:invoice_id/adjustment-note.pdf',
  kind: 'adjustmentNote',
  summary: 'Leads to the note that takes back an invoice in which tax was charged',
  description:
    'A void invoice that was issued here with tax has a note, with a number of its own (`adjustment_note_number`). An invoice that is not void is a ' +
    '409, one without tax a 404. Its bytes stay the same, and who is shown it is as of the invoice.',
});

export const INVOICES_CONTROLLERS = [
  listController(INVOICES),
  recordController(INVOICE),
  PDF,
  ADJUSTMENT_NOTE,
  writeController({
    id: 'create_invoice',
    route: 'POST /v1/invoices',
    scope: 'payments:write',
    summary: 'Drafts an invoice',
    description: 'Beside the draft that collects what lessons cost. A draft has no number, and nobody owes it yet.',
    example: {
      student_id: '0190a6f2-5c1e-7d3a-9b4f-2e8c6d1a7f30',
      lines: [{ description: 'Printed past papers', quantity: 2, unit_amount_cents: 1200 }],
    },
    body: CreateInvoice,
    rules: [Invoices],
    answers: INVOICE,
    versions: INVOICE,
    idName: 'invoice_id',
    run: ({ organizationId, body }, invoices) =>
      invoices.create(organizationId, body.student_id, body.lines.map(lineOf)),
  }),
  writeController({
    id: 'add_invoice_line',
    route: 'POST /v1/invoices/:invoice_id/lines',
    scope: 'payments:write',
    summary: 'Adds a line to a draft',
    description: 'A negative amount is a discount. An invoice that has been issued is a 409.',
    example: { description: 'Sibling discount', unit_amount_cents: -1500 },
    body: AddLine,
    rules: [Invoices],
    answers: INVOICE,
    ...VERSIONED,
    conflicts: ['invalid_state'],
    run: ({ organizationId, ids, body }, invoices) => invoices.addLine(organizationId, ids.invoice_id, lineOf(body)),
  }),
  writeController({
    id: 'remove_invoice_line',
    route: 'DELETE /v1/invoices/:invoice_id/lines/:line_id',
    scope: 'payments:write',
    summary: 'Removes a line from a draft',
    description: 'An invoice that has been issued is a 409.',
    rules: [Invoices],
    answers: null,
    ...VERSIONED,
    conflicts: ['invalid_state'],
    run: ({ organizationId, ids }, invoices) => invoices.removeLine(organizationId, ids.invoice_id, ids.line_id),
  }),
  writeController({
    id: 'remove_invoice',
    route: 'DELETE /v1/invoices/:invoice_id',
    scope: 'payments:write',
    summary: 'Deletes a draft with its lines',
    description:
      'An invoice that has been issued is a 409, and so is a draft on which lessons are billed (`still_referenced`): remove ' +
      'these lines, or reopen the sessions, first.',
    rules: [Invoices],
    answers: null,
    ...VERSIONED,
    conflicts: ['invalid_state', 'still_referenced'],
    run: ({ organizationId, ids }, invoices) => invoices.remove(organizationId, ids.invoice_id),
  }),
  writeController({
    id: 'finalize_invoice',
    route: 'POST /v1/invoices/:invoice_id/finalize',
    status: 200,
    scope: 'payments:write',
    summary: 'Issues an invoice',
    description:
      'It gets the organization’s next number and a due date, and credit pays it at once; one of zero is paid. What its paper says of seller, ' +
      'payer and tax stays as it is now. An invoice ' +
      'without lines, or with a sum below zero, is a 409. With `send`, it is mailed as by `…/send`, or not issued. Again: unchanged, and not mailed; ' +
      'with another due date, a 409.',
    example: { due_date: '2027-03-15' },
    body: FinalizeInvoice,
    rules: [Invoices],
    answers: INVOICE,
    ...VERSIONED,
    conflicts: ['invalid_state', ...UNREACHABLE],
    run: ({ organizationId, ids, body }, invoices) =>
      invoices.finalize(organizationId, ids.invoice_id, body.due_date ?? null, body.send),
  }),
  writeController({
    id: 'send_invoice',
    route: 'POST /v1/invoices/:invoice_id/send',
    status: 200,
    scope: 'payments:write',
    summary: 'Mails an issued invoice to whoever pays',
    description:
      'One mail with the PDF, to the student’s `billing_parent_id`, or to a student who pays. `sent_to` and `mailed_at` say where it goes and since when; ' +
      'it waits if the organization’s mails to families of a day are used up, and is not sent if the invoice is void by then, or somebody else pays. ' +
      'Drafts, void and imported invoices are a 409, `no_payer`, `no_address` and `payer_changed` say who is missing. Each call is another mail: ' +
      'repeat it only with an `Idempotency-Key`.',
    rules: [Invoices],
    answers: INVOICE,
    ...VERSIONED,
    conflicts: ['invalid_state', ...UNREACHABLE],
    run: ({ organizationId, ids }, invoices) => invoices.send(organizationId, ids.invoice_id),
  }),
  writeController({
    id: 'void_invoice',
    route: 'POST /v1/invoices/:invoice_id/void',
    status: 200,
    scope: 'payments:write',
    summary: 'Takes an open invoice back',
    description:
      'What has been paid of it becomes credit, which pays what else is open. With `rebill`, its lines go to the student’s ' +
      'collecting draft. Drafts and paid invoices are a 409. Again: unchanged.',
    example: { rebill: true },
    body: VoidInvoice,
    rules: [Invoices],
    answers: INVOICE,
    ...VERSIONED,
    conflicts: ['invalid_state'],
    run: ({ organizationId, ids, body }, invoices) =>
      invoices.void(organizationId, ids.invoice_id, body.rebill ?? null),
  }),
  writeController({
    id: 'write_off_invoice',
    route: 'POST /v1/invoices/:invoice_id/write-off',
    status: 200,
    scope: 'payments:write',
    summary: 'Gives up an open invoice',
    description:
      'It is `uncollectible`: no balance counts it, and no credit pays it, but money that is sent for it does. Its tax stays as it is. ' +
      'Drafts, paid and void invoices are a 409. Again: unchanged.',
    rules: [Invoices],
    answers: INVOICE,
    ...VERSIONED,
    conflicts: ['invalid_state'],
    run: ({ organizationId, ids }, invoices) => invoices.writeOff(organizationId, ids.invoice_id),
  }),
];

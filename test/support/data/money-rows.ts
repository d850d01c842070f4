import type { Factories } from './factories.js';
import type { Lesson } from './organization-rows.js';

/** Money of a lesson. @returns the ids for path parameters */
export async function moneyOf(make: Factories, school: string, lesson: Lesson & { sessionId: string }) {
  const { sessionId, ...pair } = lesson;
  const invoice = await make.invoice(school, pair.studentId, { tutorId: pair.tutorId, amountPaidCents: 1000 });
  const line = await make.invoiceLine(school, invoice.id, { description: 'Lesson', itemType: 'session', sessionId });
  const issued = { dueDate: '2026-03-16', sentAt: new Date('2026-03-02T09:00:00Z'), paidAt: new Date('2026-03-09T09:00:00Z') };
  await make.invoice(school, pair.studentId, { status: 'paid', amountPaidCents: 8500, ...issued });
  const details = { refundAmountCents: 100, stripePaymentIntentId: 'pi_1', receivedOn: '2026-03-02' };
  const payment = await make.payment(school, { ...lesson, ...details });
  await make.payment(school, { status: 'pending', paymentType: 'cash' });
  await make.payment(school, { status: 'failed', paymentType: 'bank_transfer' });
  await make.payment(school, { status: 'refunded', paymentType: 'external' });
  const approved = { sessionId, status: 'approved', approvedAt: new Date() } as const;
  const drive = {
    destination: 'Brunswick',
    durationMinutes: 25,
    vehicle: 'Own car',
    trackingMethod: 'gps',
    rateCents: 88,
    amountCents: 1100,
  } as const;
  const trip = await make.mileage(school, pair.tutorId, { ...approved, ...drive });
  const bought = {
    category: 'parking',
    vendor: 'City parking',
    approvedAmountCents: 1000,
    receiptPhotoUrl: 'https://example.org/receipt.jpg',
  } as const;
  const claim = await make.expense(school, pair.tutorId, { ...approved, ...bought });
  return { invoice_id: invoice.id, line_id: line.id, payment_id: payment.id, trip_id: trip.id, claim_id: claim.id };
}

import { Area } from '../../http/kit.js';
import { AdjustmentsModule } from './adjustments.module.js';
import { InvoicesModule } from './invoices/invoices.module.js';
import { PaymentsModule } from './payments/payments.module.js';

/** What is paid, and to whom. */
@Area({
  imports: [InvoicesModule, PaymentsModule, AdjustmentsModule],
  tags: {
    invoices: ['Invoices', 'What students owe: drafts, which collect what lessons cost, and issued invoices.'],
    payments: ['Payments', 'Payments by card, by bank transfer, in cash or made elsewhere.'],
    adjustments: ['Adjustments', 'Payroll corrections: additions and deductions.'],
  },
})
export class MoneyModule {}

import { Area } from '../../http/kit.js';
import { AdjustmentsModule } from './adjustments.module.js';
import { PaymentsModule } from './payments.module.js';

/** What is paid, and to whom. */
@Area({
  imports: [PaymentsModule, AdjustmentsModule],
  tags: {
    payments: ['Payments', 'Payments by card, by bank transfer, in cash or made elsewhere.'],
    adjustments: ['Adjustments', 'Payroll corrections: additions and deductions.'],
  },
})
export class MoneyModule {}

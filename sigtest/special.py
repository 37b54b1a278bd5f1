"""SciPy's special functions, without what their package loads besides."""

from sigtest.hooks import special

bdtrc = special("bdtrc")
betainc = special("betainc")
betaincinv = special("betaincinv")
betaln = special("betaln")
gammaincc = special("gammaincc")
hyp2f1 = special("hyp2f1")
log_ndtr = special("log_ndtr")
ndtr = special("ndtr")
ndtri = special("ndtri")
stdtrit = special("stdtrit")

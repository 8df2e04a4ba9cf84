// The WebSocket of a client.
#pragma once

#include <boost/beast/http/message.hpp>
#include <boost/beast/http/string_body.hpp>

#include "volvox/view/web/reception.h"

namespace volvox::view {

// Answers a request for an upgrade that the reception has let in, and adds the client when it is done. On the server's
// thread. The client keeps itself alive until its socket is closed; the reception must outlive it.
void accept_client(boost::asio::ip::tcp::socket socket,
                   const boost::beast::http::request<boost::beast::http::string_body>& request, Reception& reception);

}  // namespace volvox::view
